import { repairHistory, type Message } from '@h/turn';
import { generateText, type ModelMessage } from 'ai';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { openaiAt, startMock } from '../test/servers.js';

const callId = fc.constantFrom('1', '2', '3');
const text = fc.record({ type: fc.constant('text' as const), text: fc.string({ minLength: 1 }) });
const message: fc.Arbitrary<ModelMessage> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), content: fc.string({ minLength: 1 }) }),
  fc.record({
    role: fc.constant('assistant' as const),
    content: fc.array(
      fc.oneof(
        text,
        fc.record({
          type: fc.constant('tool-call' as const),
          toolCallId: callId,
          toolName: fc.constant('read'),
          input: fc.dictionary(fc.string(), fc.string()),
        }),
      ),
      { minLength: 1 },
    ),
  }),
  fc.record({
    role: fc.constant('tool' as const),
    content: fc.array(
      fc.record({
        type: fc.constant('tool-result' as const),
        toolCallId: callId,
        toolName: fc.constant('read'),
        output: fc.record({ type: fc.constant('text' as const), value: fc.string() }),
      }),
      { minLength: 1 },
    ),
  }),
);

it('repairs messages of the AI SDK so that generateText accepts them', async () => {
  const mock = await startMock();
  mock.on({ predicate: () => true }, { content: 'Fine.' });
  const model = openaiAt(mock.url).chat('gpt-4o');
  const histories = fc.sample(fc.array(message, { minLength: 2, maxLength: 12 }), { numRuns: 15, seed: 3 });
  let refused = 0;
  for (const history of histories) {
    const ask = (messages: readonly ModelMessage[]) =>
      generateText({ model, messages: [...messages, { role: 'user', content: 'Go on.' }], maxRetries: 0 });
    refused += await ask(history).then(
      () => 0,
      () => 1,
    );
    const { messages } = repairHistory(history as readonly Message[]);
    expect((await ask(messages as readonly ModelMessage[])).text).toBe('Fine.');
  }
  expect(refused).toBeGreaterThan(3);
});
