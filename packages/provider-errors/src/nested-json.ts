/** The JSON that a string contains, and what the string says besides. */
export interface NestedJson {
  readonly values: readonly object[];
  /** The string with `{}` in place of each value. */
  readonly rest: string;
}

const maxLength = 65_536;
const maxAttempts = 8;

/**
 * Parses the JSON that a string contains: gateways quote the provider's body, and some the request, inside their own
 * sentences. Objects count, and lists that have one: `[1, 8192]` is a part of a sentence.
 */
export const readJsonIn = (text: string): NestedJson => {
  const values: object[] = [];
  let rest = '';
  let from = 0;
  let start = -1;
  if (text.length > maxLength) return { values, rest: text };
  // A bounded number of positions is tried, so that a string full of braces stays cheap.
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    start = nextStart(text, start + 1);
    if (start < 0) break;
    const end = endOf(text, start);
    const found = end === undefined ? undefined : parse(text.slice(start, end));
    if (found === undefined || end === undefined) continue;
    values.push(found);
    rest += `${text.slice(from, start)}{}`;
    from = end;
    start = end - 1;
  }
  return { values, rest: rest + text.slice(from) };
};

/** The text that JSON wrote with escapes: `{\"error\": …}` in a log line, or an object that was encoded twice. */
export const withoutEscapes = (text: string): string =>
  text.replaceAll(/\\(?:u([\da-f]{4})|([^u]))/gi, (_, code: string | undefined, sign: string) =>
    code === undefined ? (/[nrt]/.test(sign) ? ' ' : sign) : String.fromCharCode(Number.parseInt(code, 16)),
  );

/** The position of the next bracket that may begin an object or a list of objects: not that of `[error]`, `[1, 2]`. */
const nextStart = (text: string, from: number): number => {
  const starts = /\{\s{0,40}["}]|\[\s{0,40}[{[]/g;
  starts.lastIndex = from;
  return starts.exec(text)?.index ?? -1;
};

/** The position after the bracket that closes the one at `start`; brackets in strings do not count. */
const endOf = (text: string, start: number): number | undefined => {
  const signs = /[[\]{}"\\]/g;
  signs.lastIndex = start;
  let depth = 0;
  let isString = false;
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    const [sign] = found;
    if (sign === '\\') signs.lastIndex += 1;
    else if (sign === '"') isString = !isString;
    else if (!isString) depth += sign === '{' || sign === '[' ? 1 : -1;
    if (depth === 0) return signs.lastIndex;
  }
  return undefined;
};

const parse = (text: string): object | undefined => {
  try {
    const found = JSON.parse(text) as unknown;
    return isObject(found) && (!Array.isArray(found) || found.some((item) => isObject(item))) ? found : undefined;
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
