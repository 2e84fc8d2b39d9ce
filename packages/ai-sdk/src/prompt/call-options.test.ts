import { MessageList } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { requestFor, weather } from '../../test/calls.js';
import { toCallOptions } from './call-options.js';

const optionsOf = (changes: Parameters<typeof requestFor>[0]) => {
  const { prompt: _, ...options } = toCallOptions(requestFor(changes), 'anthropic');
  return options;
};

describe('toCallOptions', () => {
  it('omits unset options', () => {
    expect(optionsOf({ settings: { temperature: undefined, toolChoice: undefined } })).toEqual({});
  });

  it('passes every setting under its name', () => {
    const settings = {
      maxOutputTokens: 1,
      temperature: 0,
      topP: 0.5,
      topK: 4,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      stopSequences: ['END'],
      seed: 7,
      reasoning: 'low',
      providerOptions: { any: { thing: true } },
    } as const;
    expect(optionsOf({ settings })).toEqual(settings);
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    [{ toolName: 'weather' }, { type: 'tool', toolName: 'weather' }],
  ] as const)('offers the tools, with the choice %j among them', (toolChoice, expected) => {
    const tool = {
      ...weather,
      effect: 'network',
      idempotent: true,
      providerOptions: { any: { cached: true } },
    } as const;
    expect(optionsOf({ tools: [tool], settings: { toolChoice } })).toEqual({
      tools: [{ type: 'function', ...weather, providerOptions: { any: { cached: true } } }],
      toolChoice: expected,
    });
  });

  it('omits the tool choice without tools', () => {
    expect(optionsOf({ settings: { toolChoice: 'required' } })).toEqual({});
  });

  it('replaces lone surrogates everywhere', () => {
    const half = 'half of 😀'.slice(0, -1);
    const request = requestFor({
      system: [{ text: half }],
      messages: MessageList.of([
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'c', toolName: 't', input: { [half]: [half] } }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: 'c', toolName: 't', output: { type: 'json', value: { half } } }],
        },
      ]),
      tail: [{ role: 'user', content: half }],
    });
    const sent = JSON.stringify(toCallOptions(request, 'anthropic').prompt);
    expect(sent).not.toMatch(/\\ud[89a-f]/i);
    expect(sent.split('half of \uFFFD')).toHaveLength(6);
  });
});
