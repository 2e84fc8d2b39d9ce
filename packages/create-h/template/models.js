// @ts-check
import { languageModel } from '@h/ai-sdk';
import { call, response, scriptedModel } from '@h/turn/testing';

/** What the model of the demonstration says: it wants to delete everything, is denied, and continues with a better idea. */
const script = [
  response('I look around first.', call('1', 'glob', { pattern: '*' })),
  response('I clean up.', call('2', 'bash', { command: 'rm -rf ~ /' })),
  response(
    'That was denied, and rightly so. I write a note instead.',
    call('3', 'write', { path: 'note.md', content: '# Hello\n' }),
  ),
  'I wrote note.md. Set ANTHROPIC_API_KEY or OPENAI_API_KEY to use a real model.',
];

/**
 * Returns the model of the provider that has a key, else a scripted one.
 *
 * @returns {Promise<{ name: string, model: import('@h/turn').ModelDriver }>}
 */
export const chooseModel = async () => {
  const { ANTHROPIC_API_KEY, OPENAI_API_KEY, MODEL } = process.env;
  if (ANTHROPIC_API_KEY) {
    const { anthropic } = await import('@ai-sdk/anthropic');
    const name = MODEL ?? 'claude-sonnet-4-5';
    return { name, model: languageModel(anthropic(name)) };
  }
  if (OPENAI_API_KEY) {
    const { openai } = await import('@ai-sdk/openai');
    const name = MODEL ?? 'gpt-5.1';
    return { name, model: languageModel(openai.chat(name)) };
  }
  return { name: 'scripted', model: scriptedModel(script) };
};
