import {
  anyObject,
  anyString,
  arrayOf,
  checkOptions,
  checkValue,
  InvalidOptionError,
  numberFrom,
  showValue,
  type OptionCheck,
} from '@h/options';
import { allowanceChecks, type Allowance, type LimitName } from './limits.js';

/** Limits of a turn, and those of its session if they grow with every completion. */
export interface Preset extends Allowance {
  readonly session?: Allowance | undefined;
}

/** Limits that an extension raises. */
const extended = ['maxSteps', 'maxExceptions', 'maxTokens'] as const;

/**
 * Limits that grow belong to a session: a turn has one completion at most, with which it ends, so that growing limits
 * would never change it.
 */
const withExtension = (allowance: Allowance, perCompletion: number): Preset => {
  const limits = extended.filter(
    (limit) => allowance[limit] !== undefined && (limit !== 'maxTokens' || isPositive(allowance.maxSteps)),
  );
  const session = Object.fromEntries(limits.map((limit) => [limit, allowance[limit]]));
  return limits.length === 0
    ? allowance
    : { ...allowance, session: { ...session, extension: { perCompletion, limits, maxFactor: Infinity } } };
};

const isPositive = (value: number | undefined): boolean => value !== undefined && value > 0 && value < Infinity;

/**
 * Allowances to start with, for short tasks: a coding agent that reads files needs several times the tokens.
 *
 * - `development` leaves room for real failures to show, without filling a large context.
 * - `interactive` is strict about failures in a row; the session's limits grow with every completion.
 * - `batch` allows more steps and tokens, and still stops at the second failing step in a row.
 *
 * @example
 * ```ts
 * harness({ model }).pipe(guardrails({ ...presets.batch, maxTokens: 500_000 }));
 * ```
 */
export const presets: Readonly<Record<'development' | 'interactive' | 'batch', Preset>> = {
  development: { maxSteps: 8, maxExceptions: 5, maxConsecutiveExceptions: 2, maxTokens: 30_000 },
  interactive: withExtension({ maxSteps: 5, maxExceptions: 3, maxConsecutiveExceptions: 1, maxTokens: 15_000 }, 0.25),
  batch: { maxSteps: 15, maxExceptions: 4, maxConsecutiveExceptions: 1, maxTokens: 60_000 },
};

/** Options of {@link guardrailsFromEnv}. */
export interface FromEnvOptions {
  /**
   * The environment variables.
   *
   * @defaultValue `process.env`
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names without the prefix that look like limits but belong to another program. */
  readonly ignore?: readonly string[] | undefined;
}

const limitKeys = {
  MAX_TURNS: 'maxSteps',
  MAX_EXCEPTIONS: 'maxExceptions',
  MAX_CONSECUTIVE_EXCEPTIONS: 'maxConsecutiveExceptions',
  MAX_TOKEN_USAGE: 'maxTokens',
  MAX_TOOL_CALLS: 'maxToolCalls',
  MAX_INPUT_TOKENS: 'maxInputTokens',
  MAX_OUTPUT_TOKENS: 'maxOutputTokens',
  MAX_COST: 'maxCost',
  MAX_DURATION_MS: 'maxDurationMs',
  MAX_INPUT_CHARS: 'maxInputChars',
  MAX_OUTPUT_CHARS: 'maxOutputChars',
} as const satisfies Readonly<Record<string, LimitName>>;

const extensionKey = 'LIMIT_EXTENSION_PER_COMPLETION';
const keys: readonly string[] = [...Object.keys(limitKeys), extensionKey];

/**
 * Reads an allowance from environment variables: `<prefix>MAX_TURNS`, `MAX_EXCEPTIONS`, `MAX_CONSECUTIVE_EXCEPTIONS`,
 * `MAX_TOKEN_USAGE`, `LIMIT_EXTENSION_PER_COMPLETION`, and the other limits in the same style.
 *
 * An unset or empty variable sets nothing; `Infinity` sets no limit. The extension limits the session as well, and
 * raises its steps and exceptions with every completion, and its tokens in proportion.
 *
 * @param prefix - the beginning of the names
 * @throws InvalidOptionError `invalid-option` for an invalid value, for an extension without a limit that it raises, and
 * for a name with the prefix that is a misspelled limit
 *
 * @example
 * ```ts
 * harness({ model }).pipe(guardrails({ ...guardrailsFromEnv('AGENT_'), wrapUp: false }));
 * ```
 */
export const guardrailsFromEnv = (prefix: string, options: FromEnvOptions = {}): Preset => {
  checkValue('guardrailsFromEnv()', 'prefix', prefix, anyString);
  checkOptions('guardrailsFromEnv()', options, { env: anyObject, ignore: arrayOf(anyString) });
  const { env = process.env, ignore = [] } = options;
  const found: { [Name in LimitName]?: number } = {};
  let perCompletion = 0;
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(prefix) || text === undefined) continue;
    const key = name.slice(prefix.length);
    if (ignore.includes(key)) continue;
    if (!keys.includes(key)) checkTypo(prefix, key);
    else if (text.trim() === '') continue;
    else if (key === extensionKey) perCompletion = numberOf(name, text);
    else {
      const limit = limitKeys[key as keyof typeof limitKeys];
      found[limit] = numberOf(name, text, allowanceChecks[limit]);
    }
  }
  if (perCompletion === 0) return found;
  const preset = withExtension(found, perCompletion);
  if (preset.session !== undefined) return preset;
  const needed = `${prefix}MAX_TURNS or ${prefix}MAX_EXCEPTIONS`;
  throw refusal(`${prefix}${extensionKey}`, `extends no limit. Set ${needed}, or remove it.`);
};

const numberOf = (name: string, text: string, check: OptionCheck = numberFrom(0, Infinity)): number => {
  const value = Number(text);
  if (!check.accepts(value)) throw refusal(name, `must be ${check.expected}; received ${showValue(text, name)}.`);
  return value;
};

/** A name with at most this many wrong letters counts as a misspelled limit. */
const mostWrong = 3;

const checkTypo = (prefix: string, key: string): void => {
  const [nearest] = keys
    .map((known) => ({ known, wrong: distance(key, known) }))
    .toSorted((left, right) => left.wrong - right.wrong);
  const looksLikeLimit = /^(?:MAX|LIMIT)_/.test(key);
  if (nearest === undefined || (nearest.wrong > mostWrong && !looksLikeLimit)) return;
  throw refusal(
    `${prefix}${key}`,
    `is not a known limit. Did you mean ${prefix}${nearest.known}? Known limits: ${keys.join(', ')}. If it belongs to another program, pass ignore: [${JSON.stringify(key)}].`,
  );
};

const refusal = (option: string, problem: string): InvalidOptionError =>
  new InvalidOptionError({
    owner: 'guardrailsFromEnv()',
    option,
    message: `The environment variable ${option} ${problem}`,
  });

/** The edit distance; `Infinity` for names that are much longer. */
const distance = (left: string, right: string): number => {
  if (Math.abs(left.length - right.length) > 2 * right.length) return Infinity;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let index = 0; index < left.length; index += 1) {
    const next = [index + 1];
    for (let place = 0; place < right.length; place += 1) {
      const same = left[index] === right[place] ? 0 : 1;
      next.push(Math.min((next[place] ?? 0) + 1, (row[place + 1] ?? 0) + 1, (row[place] ?? 0) + same));
    }
    row = next;
  }
  return row[right.length] ?? Infinity;
};
