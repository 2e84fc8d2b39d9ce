import { anyString, checkOptions, InvalidOptionError, arrayOf, secret, showValue } from '@h/options';
import { formFinder } from './find-secrets.js';
import { replaceAll, replacingStream, type Finder, type ReplacingStream } from './finder.js';
import { knownValueFinder, minKnownValue } from './known-values.js';
import { redactData } from './redact-data.js';

/** Options of {@link createRedactor}. */
export interface RedactorOptions {
  /**
   * Secrets that the process knows (loaded keys, say): found exactly, also in URLs, in JSON and inside of base64. Six
   * characters at least.
   *
   * @defaultValue `[]`
   */
  readonly values?: readonly string[] | undefined;
  /**
   * What stands in the place of a secret.
   *
   * @defaultValue `'[redacted]'`
   */
  readonly replacement?: string | undefined;
}

/** What was taken out: how many of each kind (`'openai'`, `'assignment'`, `'known'` …). Never a value. */
export type RedactionCounts = Readonly<Record<string, number>>;

/** Takes secrets out. Its functions need no `this`, and none of them throws. */
export interface Redactor {
  /** The text without secrets; the same text, if there are none. Doing it again changes nothing. */
  readonly redact: (text: string) => string;
  /** The same, and what was found. */
  readonly inspect: (text: string) => { readonly text: string; readonly found: RedactionCounts };
  /**
   * A copy of JSON-like data without secrets in its texts and under names such as `password`; the same object, if there are
   * none.
   */
  readonly redactData: <Value>(value: Value) => Value;
  /** For a text that comes in pieces. What comes out is, taken together, what `redact` makes of the whole text. */
  readonly stream: () => RedactionStream;
}

/** A text on its way. */
export interface RedactionStream {
  /** Takes the next piece and gives what can be shown by now; what may become a secret is held back. */
  readonly push: (chunk: string) => string;
  /** Gives what was held back, and begins anew. */
  readonly end: () => string;
}

/**
 * Makes a redactor.
 *
 * It finds tokens by their providers' forms, JSON Web Tokens, private keys in PEM, passwords in URLs, authorisation and cookie headers, what is
 * assigned to names such as `API_KEY` or `"password"`, and the values that it is given. Model names, hashes, UUIDs, lockfiles and
 * data URLs stay.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const { redact } = createRedactor({ values: [process.env['DATABASE_PASSWORD'] ?? 'not-set'] });
 * redact('curl -H "Authorization: Bearer …"');
 * ```
 */
export const createRedactor = (options: RedactorOptions = {}): Redactor => {
  checkOptions('createRedactor()', options, { values: arrayOf(secret(anyString)), replacement: anyString });
  const { values = [], replacement = '[redacted]' } = options;
  const known = knownValueFinder(values);
  const finders = [...(known === undefined ? [] : [known]), formFinder(replacement)];
  checkValues(values, replacement, finders);

  const clean = (text: string, onFound?: (kind: string) => void): string =>
    finders.reduce((rest, finder) => replaceAll(rest, finder, replacement, onFound), text);
  const redact = (text: string): string => clean(text);
  return {
    redact,
    inspect: (text) => {
      const counts: Record<string, number> = {};
      const redacted = clean(text, (kind) => void (counts[kind] = (counts[kind] ?? 0) + 1));
      return { text: redacted, found: counts };
    },
    redactData: (value) => redactData(value, { redact, replacement, onFound: () => undefined }),
    stream: () => chain(finders.map((finder) => replacingStream(finder, replacement))),
  };
};

const chain = (stages: readonly ReplacingStream[]): RedactionStream => ({
  push: (chunk) => stages.reduce((piece, stage) => stage.push(piece), chunk),
  end: () => stages.reduce((piece, stage) => stage.push(piece) + stage.end(), ''),
});

const checkValues = (values: readonly string[], replacement: string, finders: readonly Finder[]): void => {
  const short = values.find((value) => value.length < minKnownValue);
  if (short !== undefined) {
    throw new InvalidOptionError({
      owner: 'createRedactor()',
      option: 'values',
      message: `createRedactor() takes as "values" secrets of at least ${minKnownValue} characters; one has ${short.length} and would be found in ordinary words. Leave it out.`,
    });
  }
  const isFound = finders.some((finder) => replaceAll(replacement, finder, '') !== replacement);
  if (replacement === '' || isFound) {
    throw new InvalidOptionError({
      owner: 'createRedactor()',
      option: 'replacement',
      message: `createRedactor() takes as "replacement" a text that is neither empty nor looks like a secret; it was given ${showValue(replacement)}.`,
    });
  }
};
