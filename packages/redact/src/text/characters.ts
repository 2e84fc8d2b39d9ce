/** Character classes, as bits. */
export const word = 1;
export const token = 2;
export const space = 4;
/** Ends an unquoted value. */
export const stop = 8;
/** Ends a value in an environment file, which may contain brackets and commas. */
export const lineStop = 16;
export const base64 = 32;
export const key = 64;
/** Belongs to the credential of an authorization header. */
export const bearer = 128;
/** Ends a line. */
export const lineBreak = 256;
/** Ends a value in a connection string. */
export const pairStop = 512;

/** Ends a quoted header. */
export const quotedStop = 1024;
/** Ends a header on its own line. */
export const headerStop = 2048;

/** Ends the user information of a URL. */
export const userInfoStop = 4096;

/** Belongs to the lines of a key in base64. The bits between are those of tokens. */
export const keyBody = 1 << 24;

/** Ends a value that is scored. */
export const likelyStop = 1 << 25;

/** Ends a value on its own line, whatever signs it contains. */
export const valueStop = 1 << 26;

const classes = new Uint32Array(128);
const mark = (characters: string, bits: number): void => {
  for (const character of characters) classes[character.charCodeAt(0)] = (classes[character.charCodeAt(0)] ?? 0) | bits;
};
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
mark(`${letters}${digits}_`, word);
mark(`${letters}${digits}_-`, token);
mark(`${letters}${digits}_-.$`, key);
mark(`${letters}${digits}+/=`, base64);
mark(' \t', space);
mark(' \t\r\n\f\v"\'`<>(){}[],;&|\\\u001b', stop);
mark(' \t\r\n\f\v"\'`;|\\\u001b', lineStop);
mark('\t\r\n\f\v"\'`;\\<>\u001b', pairStop);
mark(' \t\r\n\f\v"\'`\\\u001b', valueStop);
mark(`${letters}${digits}_-.~+/=`, bearer);
mark('\n\r\\`"\'', quotedStop);
mark(' \t\r\n\f\v"\'`<>{}],|\\\u001b', userInfoStop);
mark('\n\r\\`', headerStop);
mark(' \t\r\n\f\v"\'`<>(){}[],;&|\\\u001b:=', likelyStop);
mark('\n\r', lineBreak);
mark(`${letters}${digits}+/=\n`, keyBody);

/** Additional characters of tokens besides letters, digits, `_` and `-`, with the class of each set. */
const alphabets: ReadonlyMap<string, number> = new Map(
  ['', '.', '=', '%', '/', '/@', '+/=', '+/=,', '.~', '*', '.+/='].map((extra, index) => {
    const bits = 8192 << index;
    mark(`${letters}${digits}_-${extra}`, bits);
    return [extra, bits];
  }),
);

/** Returns the character class of a token with these characters besides `A-Za-z0-9_-`. */
export const tokenClass = (extra: string): number => {
  const bits = alphabets.get(extra);
  if (bits === undefined) throw new RangeError(`No class has the characters ${extra}.`);
  return bits;
};

/**
 * Returns the code of a character, and `NaN` outside of a text like `charCodeAt`. V8 compiles the bounds with the code
 * around it; after one call of `charCodeAt` outside of a text, it discards that code and no longer inlines the call.
 */
export const codeAt = (text: string, index: number): number =>
  index >= 0 && index < text.length ? text.charCodeAt(index) : Number.NaN;

/** Returns whether the code belongs to one of these classes. `NaN` and non-ASCII codes belong to none. */
export const is = (code: number, bits: number): boolean => code < 128 && ((classes[code] ?? 0) & bits) !== 0;

/** Returns 1 for a lower-case letter, 2 for a capital, 3 for a digit and 0 otherwise. */
export const kindOf = (code: number): number => {
  if (code >= 97 && code <= 122) return 1;
  if (code >= 65 && code <= 90) return 2;
  return code >= 48 && code <= 57 ? 3 : 0;
};
