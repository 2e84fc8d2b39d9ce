import { anyObject, anyString, checkOptions, InvalidOptionError, arrayOf, showValue } from '@h/options';
import { type Allowance, allowanceChecks, checkExtension, type Extension, type LimitName } from './limits.js';

/** Options of {@link guardrailsFromEnv}. */
export interface FromEnvOptions {
  /**
   * The variables to read.
   *
   * @defaultValue `process.env`
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names, without the prefix, that look like limits and belong to somebody else. */
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

/** Limits that the extension of the environment raises, where they are given. */
const extended = ['maxSteps', 'maxExceptions', 'maxTokens'] as const;

/**
 * An allowance from environment variables: `<prefix>MAX_TURNS`, `MAX_EXCEPTIONS`, `MAX_CONSECUTIVE_EXCEPTIONS`,
 * `MAX_TOKEN_USAGE`, `LIMIT_EXTENSION_PER_COMPLETION`, and the other limits in the same style. A variable that is unset or
 * empty says nothing; `Infinity` sets no limit. The extension raises steps and exceptions, and tokens in proportion.
 *
 * @param prefix what the names begin with
 * @throws InvalidOptionError `invalid-option` for a value that is no number, and for a name with the prefix that looks like a limit and is none
 *
 * @example
 * ```ts
 * harness({ model }).pipe(guardrails({ ...guardrailsFromEnv('STATEK_'), wrapUp: false }));
 * ```
 */
export const guardrailsFromEnv = (prefix: string, options: FromEnvOptions = {}): Allowance => {
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
    else found[limitKeys[key as keyof typeof limitKeys]] = numberOf(name, text);
  }
  const limits = extended.filter(
    (limit) => found[limit] !== undefined && (limit !== 'maxTokens' || isPositive(found.maxSteps)),
  );
  const extension: Extension = { perCompletion, limits };
  const allowance: Allowance = perCompletion === 0 ? found : { ...found, extension };
  const owner = `guardrailsFromEnv(${JSON.stringify(prefix)})`;
  checkOptions(owner, allowance, allowanceChecks);
  checkExtension(owner, allowance);
  return allowance;
};

const isPositive = (value: number | undefined): boolean => value !== undefined && value > 0 && value < Infinity;

const numberOf = (name: string, text: string): number => {
  const value = Number(text);
  if (Number.isNaN(value) || value < 0) {
    throw refusal(name, `takes a number from 0 or Infinity; it is ${showValue(text, name)}.`);
  }
  return value;
};

/** So many letters may be wrong in a name that is still taken for one of ours. */
const mostWrong = 3;

const checkTypo = (prefix: string, key: string): void => {
  const [nearest] = keys
    .map((known) => ({ known, wrong: distance(key, known) }))
    .toSorted((left, right) => left.wrong - right.wrong);
  const looksLikeLimit = /^(?:MAX|LIMIT)_/.test(key);
  if (nearest === undefined || (nearest.wrong > mostWrong && !looksLikeLimit)) return;
  throw refusal(
    `${prefix}${key}`,
    `is no limit that there is; did you mean ${prefix}${nearest.known}? There are: ${keys.join(', ')}. Pass ignore: [${JSON.stringify(key)}] if it is somebody else's.`,
  );
};

const refusal = (option: string, problem: string): InvalidOptionError =>
  new InvalidOptionError({
    owner: 'guardrailsFromEnv()',
    option,
    message: `The environment variable ${option} ${problem}`,
  });

/** How many letters have to be added, removed or changed; names that are much longer than ours are far off anyway. */
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
