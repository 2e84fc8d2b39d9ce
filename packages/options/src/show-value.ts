const maxShown = 200;
const maxDepth = 3;
const maxParts = 10;

/** A longer string may be a misplaced secret, so only its first characters are shown. */
const maxText = 24;
const shownOfLongText = 16;

const soundsSecret =
  /(?:^|[.\]_-]|api|access|private|signing|encryption)keys?$|token$|secret|passw|credential|authori[sz]ation|cookie/iu;

/**
 * Formats a value for a message: one line of at most 200 characters.
 *
 * A long string is truncated. A string whose name looks secret is replaced by its length.
 *
 * @param name - the name of the value, if it has one
 */
export const showValue = (value: unknown, name = ''): string => {
  const text = attempt(() => show(value, name, 0));
  return text.length > maxShown ? `${text.slice(0, maxShown - 1).toWellFormed()}…` : text;
};

/** Describes a secret value by its type, or by its length if it is a string. */
export const showKind = (value: unknown): string => {
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  return value === null || value === undefined ? String(value) : `a value of the type ${typeof value}`;
};

const attempt = (shown: () => string): string => {
  try {
    return shown();
  } catch {
    return 'something that cannot be shown';
  }
};

const show = (value: unknown, name: string, depth: number): string => {
  if (typeof value === 'string') return soundsSecret.test(name) && value !== '' ? showKind(value) : showText(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return showList(value as readonly unknown[], name, depth);
  if (value instanceof RegExp) return String(value);
  if (isThenable(value)) return 'a promise, which must be awaited';
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && prototype !== Object.prototype) return `an instance of ${value.constructor.name}`;
  return showObject(value, depth);
};

/** Whether the value is a promise, of any implementation. */
export const isThenable = (value: object): boolean =>
  typeof (value as Partial<PromiseLike<unknown>>).then === 'function';

const showText = (text: string): string => {
  if (text.length <= maxText) return JSON.stringify(text);
  return `${JSON.stringify(`${text.slice(0, shownOfLongText).toWellFormed()}…`)} (${text.length} characters)`;
};

const showList = (list: readonly unknown[], name: string, depth: number): string => {
  if (depth >= maxDepth) return '[…]';
  const items = list.slice(0, maxParts).map((item) => show(item, name, depth + 1));
  return `[${[...items, ...more(list.length)].join(',')}]`;
};

const showObject = (object: object, depth: number): string => {
  if (depth >= maxDepth) return '{…}';
  const entries = Object.entries(object) as [string, unknown][];
  const members = entries
    .slice(0, maxParts)
    .map(([name, value]) => `${showText(name)}:${show(value, name, depth + 1)}`);
  return `{${[...members, ...more(entries.length)].join(',')}}`;
};

const more = (count: number): readonly string[] => (count > maxParts ? [`… ${count - maxParts} more`] : []);
