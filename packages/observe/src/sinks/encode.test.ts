import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Observation } from '../observation.js';
import { encodeObservation } from './encode.js';

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('claude-sonnet-4-5', '"', '\\', '\n', '\u2028', '\ud800', '</script>', 'x'.repeat(300)));
const anyNumber = fc.oneof(fc.double(), fc.integer());
const usage = fc.record({ input: anyNumber, cacheRead: anyNumber, cacheWrite: anyNumber, output: anyNumber, reasoning: anyNumber });
const error = fc.record({ name: anyText, message: anyText, code: maybe(anyText), status: maybe(fc.integer()) });
const common = { runId: anyText, seq: fc.nat(), at: anyNumber, subsystem: fc.constant('x'), level: fc.constantFrom('debug', 'warn'), step: fc.nat(), durationMs: anyNumber };
const observations = fc.oneof(
  fc.record({ ...common, type: fc.constant('model.call'), attempt: fc.nat(), provider: maybe(anyText), model: maybe(anyText), responseModel: maybe(anyText), responseId: maybe(anyText), credentialProfileId: maybe(anyText), firstDeltaMs: maybe(anyNumber), deltas: fc.nat(), usage, cost: maybe(anyNumber), finishReason: maybe(anyText), error: maybe(error), retrying: maybe(fc.boolean()), output: maybe(anyText) }),
  fc.record({ ...common, type: fc.constant('tool.call'), callId: anyText, tool: anyText, status: anyText, outputChars: maybe(fc.nat()), error: maybe(error), deniedBy: maybe(anyText), input: maybe(anyText), output: maybe(anyText) }),
  fc.record({ ...common, type: fc.constant('step.done'), attempts: fc.nat(), toolCalls: fc.nat(), usage, cost: maybe(anyNumber) }),
  fc.record({ ...common, type: fc.constantFrom('loop.warning', 'tool.call', 'model.call', 'step.done'), data: fc.object() }),
);

it('says what JSON.stringify says', () => {
  fc.assert(
    fc.property(observations, (observation) => {
      expect(JSON.parse(encodeObservation(observation as unknown as Observation))).toEqual(JSON.parse(JSON.stringify(observation)));
    }),
    { numRuns: 1000 },
  );
});
