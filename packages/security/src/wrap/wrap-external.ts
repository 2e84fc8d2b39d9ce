import { anyFunction, anyString, checkOptions, InvalidOptionError, required, showValue } from '@h/options';
import { defuse } from './defuse.js';

/** Options of {@link wrapExternal}. */
export interface WrapExternalOptions {
  /** Where the content comes from, for the model: an address, the name of a tool. At most 200 characters are shown. */
  readonly source: string;
  /**
   * Makes the id that the marks of one wrap share. It must not be guessable.
   *
   * @defaultValue 64 random bits, in hexadecimal
   */
  readonly createId?: (() => string) | undefined;
}

/** The marks around a content that has none in it. */
export interface Wrapping {
  readonly id: string;
  readonly begin: string;
  readonly end: string;
}

/**
 * Marks content from outside, so that a model can tell data from instructions.
 *
 * The marks share an id that the content cannot know. Marks in the content are removed, also those written with
 * look-alikes; what models take for the seams of a conversation is broken up. {@link externalContentRule} tells the
 * model what the marks mean.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * wrapExternal(await page.text(), { source: page.url });
 * ```
 */
export const wrapExternal = (content: string, options: WrapExternalOptions): string => {
  checkOptions('wrapExternal()', options, { source: required(anyString), createId: anyFunction });
  const { source, createId } = options;
  const { begin, end } = createWrapping(source, [content], createId);
  return `${begin}\n${defuse(content)}\n${end}`;
};

const maxSource = 200;
const idForm = /^[A-Za-z0-9_-]{8,64}$/;
const attempts = 3;

/** Creates marks with an id that none of the contents has. */
export const createWrapping = (
  source: string,
  contents: readonly string[],
  createId: () => string = randomId,
): Wrapping => {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const id = createId();
    if (!idForm.test(id)) {
      throw badId(`returned ${showValue(id)}. Return 8 to 64 letters, digits, "-" and "_".`);
    }
    if (contents.some((content) => content.includes(id))) continue;
    return {
      id,
      begin: `<<<external-content id="${id}" source="${cleanSource(source)}">>>`,
      end: `<<<end-external-content id="${id}">>>`,
    };
  }
  throw badId(`made ${attempts} ids that the content already has. Return random ids.`);
};

const badId = (problem: string): InvalidOptionError =>
  new InvalidOptionError({ owner: 'wrapExternal()', option: 'createId', message: `createId ${problem}` });

const idChars = 16;

/** The last digits of a random UUID, which runtimes create without asking the system for each. */
const randomId = (): string =>
  // oxlint-disable-next-line h/no-clock -- the default chance, which callers may replace
  crypto.randomUUID().replaceAll('-', '').slice(-idChars);

/** On one line, without what could end the mark. */
const cleanSource = (source: string): string => {
  const cleaned = defuse(source)
    .replace(/[\p{C}\p{Z}]/gu, ' ')
    .replace(/[^\p{L}\p{N} .,:;/?&=%@#+!~*()_-]/gu, '')
    .replace(/ +/g, ' ')
    .trim();
  return cleaned === '' ? 'unknown' : Array.from(cleaned).slice(0, maxSource).join('');
};

/**
 * The text with the ids of all wraps replaced by one, so that the same content has the same hash however often it is
 * wrapped.
 */
export const normalizeWraps = (text: string): string =>
  text.replace(/(<<<(?:end-)?external-content id=")[A-Za-z0-9_-]{8,64}"/g, '$1*"');
