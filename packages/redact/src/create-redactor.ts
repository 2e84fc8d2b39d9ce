import { anyString, arrayOf, checkOptions, InvalidOptionError, secret, showValue } from '@h/options';
import { formFinder } from './find-secrets.js';
import { knownValueFinder, minKnownValue } from './known-values.js';
import { redactData } from './redact-data.js';
import { replaceAll, replacingStream, type Finder, type ReplacingStream } from './replace.js';

/** Options of {@link createRedactor}. */
export interface RedactorOptions {
  /**
   * Secrets that the process knows, such as loaded keys. They are found exactly, also in URLs, JSON, HTML and inside base64.
   * Each has at least six characters.
   *
   * @defaultValue `[]`
   */
  readonly values?: readonly string[] | undefined;
  /**
   * What a secret is replaced with.
   *
   * @defaultValue `'[redacted]'`
   */
  readonly replacement?: string | undefined;
}

/** How many secrets of each kind (`'openai'`, `'assignment'`, `'known'` …) were replaced. Contains no value. */
export type RedactionCounts = Readonly<Record<string, number>>;

/** Replaces secrets. The functions need no `this`, and none of them throws. */
export interface Redactor {
  /** What a secret is replaced with. */
  readonly replacement: string;
  /** Returns the text without secrets, or the same text if it has none. A second pass changes nothing. */
  readonly redact: (text: string) => string;
  /** Does the same as `redact` and counts what was found. */
  readonly inspect: (text: string) => { readonly text: string; readonly found: RedactionCounts };
  /**
   * Returns a copy of JSON-like data without secrets in its strings and under names such as `password`, or the same object
   * if it has none.
   */
  readonly redactData: <Value>(value: Value) => Value;
  /** Redacts a text that arrives in chunks. The outputs joined equal `redact` of the inputs joined. */
  readonly stream: () => RedactionStream;
}

/** A text that arrives in chunks. */
export interface RedactionStream {
  /** Takes the next chunk and returns what can be shown so far. Text that may become a secret is held back. */
  readonly push: (chunk: string) => string;
  /** Returns what was held back. The stream can then be used for another text. */
  readonly end: () => string;
}

/**
 * Creates a redactor.
 *
 * It finds tokens by their providers' formats, JSON Web Tokens, private keys in PEM, passwords in URLs and command lines,
 * authorization and cookie headers, values of names such as `API_KEY` or `"password"` in any common notation, and the values
 * that it is given. Colors and escapes between the parts do not hide them. Model names, hashes, UUIDs, lockfiles, data URLs
 * and signatures stay.
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
    replacement,
    redact,
    inspect: (text) => {
      const counts: Record<string, number> = {};
      const redacted = clean(text, (kind) => void (counts[kind] = (counts[kind] ?? 0) + 1));
      return { text: redacted, found: counts };
    },
    redactData: (value) => redactData(value, { redact, replacement }),
    stream: () => chain(finders.map((finder) => replacingStream(finder, replacement))),
  };
};

const chain = (stages: readonly ReplacingStream[]): RedactionStream => ({
  push: (chunk) => stages.reduce((piece, stage) => stage.push(piece), chunk),
  end: () => stages.reduce((piece, stage) => stage.push(piece) + stage.end(), ''),
});

const checkValues = (values: readonly string[], replacement: string, finders: readonly Finder[]): void => {
  const short = values.findIndex((value) => value.length < minKnownValue);
  if (short !== -1) {
    throw new InvalidOptionError({
      owner: 'createRedactor()',
      option: `values[${short}]`,
      message: `createRedactor(): values[${short}] has ${values[short]?.length} characters and would be found in ordinary words. Leave out values with fewer than ${minKnownValue} characters.`,
    });
  }
  const isFound = finders.some((finder) => replaceAll(replacement, finder, '') !== replacement);
  if (replacement === '' || isFound) {
    throw new InvalidOptionError({
      owner: 'createRedactor()',
      option: 'replacement',
      message: `createRedactor(): replacement ${showValue(replacement)} ${replacement === '' ? 'is empty' : 'looks like a secret'}. Use a text such as "[redacted]".`,
    });
  }
};
