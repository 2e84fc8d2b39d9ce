import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { run, worker } from '../test/turns.js';
import { createBudget } from './budget.js';
import { guardrails } from './guardrails.js';
import { effectiveLimit } from './limits.js';
import { guardrailsFromEnv, presets } from './presets.js';

const fromEnv = (env: Readonly<Record<string, string>>, prefix = 'STATEK_') => guardrailsFromEnv(prefix, { env });

describe('guardrailsFromEnv', () => {
  it('reads the limits', () => {
    const env = {
      STATEK_MAX_TURNS: '5',
      STATEK_MAX_EXCEPTIONS: '3',
      STATEK_MAX_CONSECUTIVE_EXCEPTIONS: '1',
      STATEK_MAX_TOKEN_USAGE: '10000',
      STATEK_LIMIT_EXTENSION_PER_COMPLETION: '0',
    };
    expect(fromEnv(env)).toEqual({ maxSteps: 5, maxExceptions: 3, maxConsecutiveExceptions: 1, maxTokens: 10_000 });
    expect(fromEnv({ ...env, STATEK_LIMIT_EXTENSION_PER_COMPLETION: '0.25' })).toEqual({
      maxSteps: 5,
      maxExceptions: 3,
      maxConsecutiveExceptions: 1,
      maxTokens: 10_000,
      session: {
        maxSteps: 5,
        maxExceptions: 3,
        maxTokens: 10_000,
        extension: { perCompletion: 0.25, limits: ['maxSteps', 'maxExceptions', 'maxTokens'], maxFactor: Infinity },
      },
    });
  });

  it('reads every limit, with any prefix', () => {
    const env = {
      X_MAX_TOOL_CALLS: '1',
      X_MAX_INPUT_TOKENS: '2',
      X_MAX_OUTPUT_TOKENS: '3',
      X_MAX_COST: '0.5',
      X_MAX_DURATION_MS: '4',
      X_MAX_INPUT_CHARS: '5',
      X_MAX_OUTPUT_CHARS: '6',
    };
    expect(fromEnv(env, 'X_')).toEqual({
      maxToolCalls: 1,
      maxInputTokens: 2,
      maxOutputTokens: 3,
      maxCost: 0.5,
      maxDurationMs: 4,
      maxInputChars: 5,
      maxOutputChars: 6,
    });
    expect(fromEnv({ MAX_TURNS: '7' }, '')).toEqual({ maxSteps: 7 });
  });

  it('reads the environment of the process', () => {
    process.env['H_TEST_MAX_TURNS'] = '9';
    expect(guardrailsFromEnv('H_TEST_')).toEqual({ maxSteps: 9 });
    delete process.env['H_TEST_MAX_TURNS'];
    expect(guardrailsFromEnv('H_TEST_')).toEqual({});
  });

  it('treats an empty variable as unset, and Infinity as no limit', () => {
    expect(fromEnv({ STATEK_MAX_TURNS: ' ', STATEK_MAX_TOKEN_USAGE: 'Infinity', STATEK_MAX_EXCEPTIONS: '0' })).toEqual({
      maxTokens: Infinity,
      maxExceptions: 0,
    });
  });

  it('does not extend tokens without a limit on steps', () => {
    expect(
      fromEnv({
        STATEK_MAX_TOKEN_USAGE: '100',
        STATEK_MAX_EXCEPTIONS: '2',
        STATEK_LIMIT_EXTENSION_PER_COMPLETION: '1',
      }),
    ).toMatchObject({ session: { extension: { limits: ['maxExceptions'] } } });
  });

  it.each([{}, { STATEK_MAX_TOKEN_USAGE: '100' }, { STATEK_MAX_COST: '1' }])(
    'rejects an extension that raises no limit: %j',
    (limits) => {
      expect(() => fromEnv({ ...limits, STATEK_LIMIT_EXTENSION_PER_COMPLETION: '0.5' })).toThrow(
        'The environment variable STATEK_LIMIT_EXTENSION_PER_COMPLETION extends no limit. Set STATEK_MAX_TURNS or',
      );
    },
  );

  it.each<readonly [string, string]>([
    ['five', 'The environment variable STATEK_MAX_TURNS must be an integer from 0 or Infinity; received "five".'],
    ['-1', 'The environment variable STATEK_MAX_TURNS must be an integer from 0 or Infinity; received "-1".'],
    ['1.5', 'The environment variable STATEK_MAX_TURNS must be an integer from 0 or Infinity; received "1.5".'],
  ])('rejects %s', (value, message) => {
    expect(() => fromEnv({ STATEK_MAX_TURNS: value })).toThrow(
      expect.objectContaining({ code: 'invalid-option', message }),
    );
  });

  it.each([
    'MAX_TURN',
    'MAXTURNS',
    'MAX_TOKENS_USAGE',
    'MAX_SOMETHING',
    'LIMIT_EXTENSION',
    'max_turns'.toUpperCase().replace('_', '-'),
  ])('rejects %s as a misspelled limit', (key) => {
    expect(() => fromEnv({ [`STATEK_${key}`]: '5' })).toThrow(
      new RegExp(`^The environment variable STATEK_${key} is not a known limit\\. Did you mean STATEK_`),
    );
  });

  it('ignores variables of other programs', () => {
    expect(fromEnv({ STATEK_MODEL: 'x', STATEK_LOG_LEVEL: 'debug', PATH: '/bin', MAX_TURN: '5' })).toEqual({});
    expect(guardrailsFromEnv('STATEK_', { env: { STATEK_MAX_RETRIES: '3' }, ignore: ['MAX_RETRIES'] })).toEqual({});
  });

  it('throws option errors only', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ maxLength: 40 }).map((name) => `S_${name}`),
          fc.string(),
        ),
        (env) => {
          try {
            guardrails(guardrailsFromEnv('S_', { env }));
          } catch (error) {
            expect(error).toMatchObject({ code: 'invalid-option' });
          }
        },
      ),
    );
  });

  it('limits a turn, a session and a budget', async () => {
    const allowance = fromEnv({ STATEK_MAX_TURNS: '2' });
    for (const options of [allowance, { session: allowance }, { budget: createBudget(allowance) }]) {
      expect(await run(worker(5), { ...options, wrapUp: false })).toMatchObject({ outcome: 'max-steps', steps: 2 });
    }
  });
});

describe('presets', () => {
  it.each(Object.entries(presets))('%s equals the environment of the same name', (name, preset) => {
    const environments: Readonly<Record<string, readonly string[]>> = {
      development: ['8', '5', '2', '30000', '0'],
      interactive: ['5', '3', '1', '15000', '0.25'],
      batch: ['15', '4', '1', '60000', '0'],
    };
    const keys = [
      'MAX_TURNS',
      'MAX_EXCEPTIONS',
      'MAX_CONSECUTIVE_EXCEPTIONS',
      'MAX_TOKEN_USAGE',
      'LIMIT_EXTENSION_PER_COMPLETION',
    ];
    const env = Object.fromEntries(keys.map((key, index) => [`STATEK_${key}`, environments[name]?.[index] ?? '']));
    expect(preset).toEqual(fromEnv(env));
    expect(() => guardrails(preset)).not.toThrow();
  });

  it('extends the session, which has many completions', async () => {
    const { session } = presets.interactive;
    expect([0, 4, 40].map((completions) => effectiveLimit(session ?? {}, 'maxSteps', completions))).toEqual([
      5, 10, 55,
    ]);
    expect(presets.interactive.extension).toBeUndefined();
  });

  it('can be changed option by option', async () => {
    expect(await run(worker(30), { ...presets.batch, maxSteps: 3, wrapUp: false })).toMatchObject({
      outcome: 'max-steps',
      steps: 3,
    });
  });
});
