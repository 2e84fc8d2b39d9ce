// A system prompt whose stable part stays in the provider's cache, and a report when something breaks it.
import { openai } from '@ai-sdk/openai';
import { attach } from '@h/ai-sdk';
import { prompt, PromptMemo } from '@h/prompt';
import { intercept } from '@h/turn';
import { generateText } from 'ai';

let rules = 'Answer in one sentence.';
const shaped = prompt({
  frozen: [{ id: 'identity', text: 'You are a helpful librarian.' }],
  session: [{ id: 'rules', text: () => rules }],
  volatile: [{ id: 'time', text: ({ at }) => `It is ${new Date(at).toISOString()}.` }],
  cache: new PromptMemo(),
});
const report = intercept('report', () => ({
  observe: { 'cache.broken': ({ changes }) => console.log('The cache was broken by', JSON.stringify(changes[0])) },
}));

const settings = attach({ model: openai.chat('gpt-5-mini'), session: 'alice' }, shaped, report);
await generateText({ ...settings, prompt: 'What is the oldest book?', maxRetries: 0 });
rules = 'Answer in two sentences.';
const { text } = await generateText({ ...settings, prompt: 'And the second oldest?', maxRetries: 0 });
console.log(text);
