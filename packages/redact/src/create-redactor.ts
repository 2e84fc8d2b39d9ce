import { anyString, arrayOf, checkOptions, InvalidOptionError, secret, showValue } from '@h/options';
import { formFinder } from './find-secrets.js';
import { jsonStringsFinder } from './text/json-strings.js';
import { knownValueFinder, minKnownValue } from './known-values.js';
import { plainLinesFinder } from './text/plain-lines.js';
import { redactData } from './redact-data.js';
import { replaceAll, replacingStream, type Finder, type ReplacingStream } from './text/replace.js';

/** Options of {@link createRedactor}. */
export interface RedactorOptions {
  /**
   * Known secrets, such as loaded keys, of at least six characters each. They are found verbatim, in URLs, JSON and
   * HTML, and inside base64.
   *
   * @defaultValue `[]`
   */
  readonly values?: readonly string[] | undefined;
  /**
   * The replacement of a secret.
   *
   * @defaultValue `'[redacted]'`
   */
  readonly replacement?: string | undefined;
}

/** Number of replaced secrets by kind (`'openai'`, `'assignment'`, `'known'` …). Contains no values. */
export type RedactionCounts = Readonly<Record<string, number>>;

/** Replaces secrets. The functions do not use `this` and never throw. */
export interface Redactor {
  /** The replacement of a secret. */
  readonly replacement: string;
  /**
   * Returns the text without secrets, or the same text if it has none. Repeating it changes nothing, except that it may
   * find a secret whose context is before another secret on the same line.
   */
  readonly redact: (text: string) => string;
  /** Works like `redact` and counts the secrets. */
  readonly inspect: (text: string) => { readonly text: string; readonly found: RedactionCounts };
  /**
   * Returns a copy of JSON-like data without secrets in its strings and under names such as `password`, or the same
   * object if it has none.
   */
  readonly redactData: <Value>(value: Value) => Value;
  /** Creates a stream that redacts chunks of text. The joined outputs equal `redact` of the joined inputs. */
  readonly stream: () => RedactionStream;
}

/** Redacts a text that arrives in chunks. */
export interface RedactionStream {
  /** Adds a chunk and returns the redacted text so far. Holds back text that may become a secret. */
  readonly push: (chunk: string) => string;
  /** Returns the held-back text. The stream can then be used for another text. */
  readonly end: () => string;
}

/**
 * Creates a redactor.
 *
 * Finds tokens by their providers' formats, JSON Web Tokens, private keys in PEM, passwords in URLs and command lines,
 * authorization and cookie headers, values of names such as `API_KEY` or `"password"` in any common notation, and the
 * known `values`. Colors and escapes within a secret do not hide it. Model names, hashes, UUIDs, lockfiles, data URLs
 * and signatures are preserved.
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
  const forms = formFinder(replacement);
  const ofText = (): readonly Finder[] => [forms, plainLinesFinder(forms)];
  const strings = jsonStringsFinder(ofText);
  const finders = (): readonly Finder[] => [
    ...(known === undefined ? [] : [known]),
    strings,
    forms,
    plainLinesFinder(forms),
  ];
  checkValues(values, replacement, finders());

  const clean = (text: string, onFound?: (kind: string) => void): string =>
    replaceAll(text, finders(), replacement, onFound);
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
    stream: () => chain(finders().map((finder) => replacingStream(finder, replacement))),
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
  const isFound = replaceAll(replacement, finders, '') !== replacement;
  if (replacement === '' || isFound) {
    throw new InvalidOptionError({
      owner: 'createRedactor()',
      option: 'replacement',
      message: `createRedactor(): replacement ${showValue(replacement)} ${replacement === '' ? 'is empty' : 'looks like a secret'}. Use a text such as "[redacted]".`,
    });
  }
};
