import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Observation } from '../observation.js';
import { createEncoder, maxEncoded } from './encode.js';
import { JsonBytes } from './json-bytes.js';

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('claude-sonnet-4-5', '"', '\\', '\n', '\u2028', '\ud800', '</script>', 'x'.repeat(300)),
);
const anyNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeNat(),
  fc.maxSafeInteger(),
  fc.nat().map((value) => value / 1000),
);
const usage = fc.record({
  input: anyNumber,
  cacheRead: anyNumber,
  cacheWrite: anyNumber,
  output: anyNumber,
  reasoning: anyNumber,
});
const error = fc.record({ name: anyText, message: anyText, code: maybe(anyText), status: maybe(fc.integer()) });
const common = {
  runId: anyText,
  seq: fc.nat(),
  at: anyNumber,
  level: fc.constantFrom('debug', 'warn'),
  step: fc.nat(),
  durationMs: anyNumber,
};
const observations = fc.oneof(
  fc.record({
    ...common,
    type: fc.constant('model.call'),
    subsystem: fc.constantFrom('model', 'x'),
    attempt: fc.nat(),
    provider: maybe(anyText),
    model: maybe(anyText),
    responseModel: maybe(anyText),
    responseId: maybe(anyText),
    credentialProfileId: maybe(anyText),
    firstDeltaMs: maybe(anyNumber),
    deltas: fc.nat(),
    usage,
    cost: maybe(anyNumber),
    finishReason: maybe(anyText),
    error: maybe(error),
    retrying: maybe(fc.boolean()),
    output: maybe(anyText),
  }),
  fc.record({
    ...common,
    type: fc.constant('tool.call'),
    subsystem: fc.constantFrom('tool', 'x'),
    callId: anyText,
    tool: anyText,
    status: anyText,
    outputChars: maybe(fc.nat()),
    error: maybe(error),
    deniedBy: maybe(anyText),
    input: maybe(anyText),
    output: maybe(anyText),
  }),
  fc.record({
    ...common,
    type: fc.constant('step.done'),
    subsystem: fc.constantFrom('step', 'x'),
    attempts: fc.nat(),
    toolCalls: fc.nat(),
    usage,
    cost: maybe(anyNumber),
  }),
  fc.record({
    ...common,
    type: fc.constantFrom('loop.warning', 'tool.call', 'model.call', 'step.done'),
    data: fc.object(),
  }),
);

it('encodes like JSON.stringify or not at all, regardless of earlier calls', () => {
  const encode = createEncoder();
  const bytes = new JsonBytes(maxEncoded);
  fc.assert(
    fc.property(observations, (given) => {
      const observation = given as unknown as Observation;
      bytes.length = 0;
      if (encode(observation, bytes)) {
        expect(JSON.parse(bytes.buffer.toString('utf8', 0, bytes.length))).toEqual(
          JSON.parse(JSON.stringify(observation)),
        );
      } else expect(bytes.length).toBe(0);
    }),
    { numRuns: 2000 },
  );
});

it('encodes the events of every step without JSON.stringify', () => {
  const encode = createEncoder();
  const usual = fc.record({
    ...common,
    runId: fc.uuid(),
    type: fc.constant('tool.call'),
    subsystem: fc.constant('tool'),
    callId: fc.uuid(),
    tool: fc.constantFrom('read', 'edit'),
    status: fc.constant('ok'),
    outputChars: fc.nat(),
  });
  fc.assert(
    fc.property(usual, (observation) => {
      expect(encode(observation as unknown as Observation, new JsonBytes(maxEncoded))).toBe(true);
    }),
  );
});

it('formats numbers like JavaScript', () => {
  fc.assert(
    fc.property(anyNumber, (value) => {
      const bytes = new JsonBytes(64);
      bytes.number(value);
      expect(bytes.buffer.toString('latin1', 0, bytes.length)).toBe(JSON.stringify(value));
    }),
    {
      numRuns: 2000,
      examples: [
        [0],
        [-0],
        [0.001],
        [1.5],
        [999_999_999_999],
        [1_700_000_000_007],
        [2 ** 31],
        [2 ** 31 - 1],
        [2 ** 53],
        [0.0005],
        [1e21],
        [-3],
        [2_147_483.648],
      ],
    },
  );
});

it('stays within the reserved space', () => {
  const long = 'x'.repeat(200);
  const names = { provider: long, model: long, responseModel: long, credentialProfileId: long, finishReason: long };
  const numbers = {
    input: -1.234_567_890_123_456e-300,
    cacheRead: 1 / 3,
    cacheWrite: Number.MIN_VALUE,
    output: Number.MAX_VALUE,
    reasoning: -1 / 3,
  };
  const longest = {
    type: 'model.call',
    runId: long,
    seq: 2 ** 31,
    at: -1 / 3,
    subsystem: 'model',
    level: 'debug',
    step: 1 / 3,
    attempt: 1 / 3,
    ...names,
    model: `${long}\u0000${long}`.repeat(2),
    responseId: long,
    durationMs: 1 / 3,
    firstDeltaMs: 1 / 3,
    deltas: 1 / 3,
    usage: numbers,
    cost: 1 / 3,
  };
  const bytes = new JsonBytes(maxEncoded);
  expect(createEncoder()(longest as unknown as Observation, bytes)).toBe(true);
  expect(JSON.parse(bytes.buffer.toString('utf8', 0, bytes.length))).toEqual(longest);
});

it('adds nothing if an id is not a string or a number is not JSON', () => {
  const bytes = new JsonBytes(maxEncoded);
  const call = {
    runId: 'run',
    seq: 1,
    at: 1,
    level: 'debug',
    step: 1,
    durationMs: 1,
    type: 'tool.call',
    subsystem: 'tool',
    callId: 'call',
    tool: 'read',
    status: 'ok',
  };
  for (const callId of [null, 5]) {
    expect(createEncoder()({ ...call, callId } as unknown as Observation, bytes)).toBe(false);
  }
  expect(() => createEncoder()({ ...call, seq: 1n } as unknown as Observation, bytes)).toThrow(TypeError);
  expect(bytes.length).toBe(0);
});

it('encodes a string like JSON.stringify or not at all', () => {
  const character = fc.constantFrom(
    'a',
    'Z',
    '0',
    ' ',
    '/',
    '<',
    '~',
    '"',
    '\\',
    '\n',
    '\u007F',
    '\u0080',
    'é',
    'ÿ',
    '€',
  );
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 4 }), (value) => {
      const bytes = new JsonBytes(64);
      const isPlain = /^[ !#-[\]-~]*$/.test(value);
      expect(bytes.text(value)).toBe(isPlain);
      expect(bytes.buffer.toString('utf8', 0, bytes.length)).toBe(isPlain ? JSON.stringify(value) : '');
    }),
    { numRuns: 500 },
  );
});
