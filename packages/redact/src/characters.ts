/** Character classes, as bits. */
export const word = 1;
export const token = 2;
export const space = 4;
/** Ends an unquoted value. */
export const stop = 8;
/** Ends the value of a line in an environment file, where brackets and commas belong to the value. */
export const lineStop = 16;
export const base64 = 32;
export const key = 64;
/** The credential of an authorization header. */
export const bearer = 128;
/** Ends the value of a pair in a connection string. */
export const pairStop = 512;

/** Ends a header inside of quotes. */
export const quotedStop = 1024;
/** Ends a header that is a line. */
export const headerStop = 2048;

/** Ends what is before the host of a URL. */
export const userInfoStop = 4096;

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
mark(`${letters}${digits}_-.~+/=`, bearer);
mark('\n\r\\`"\'', quotedStop);
mark(' \t\r\n\f\v"\'`<>{}],|\\\u001b', userInfoStop);
mark('\n\r\\`', headerStop);

/** What tokens may contain beyond letters, digits, `_` and `-`, and the class of each of these alphabets. */
const alphabets: ReadonlyMap<string, number> = new Map(
  ['', '.', '=', '%', '/', '/@', '+/=', '+/=,'].map((extra, index) => {
    const bits = 8192 << index;
    mark(`${letters}${digits}_-${extra}`, bits);
    return [extra, bits];
  }),
);

/** The class of the characters of a token with these characters beyond `A-Za-z0-9_-`. */
export const tokenClass = (extra: string): number => {
  const bits = alphabets.get(extra);
  if (bits === undefined) throw new RangeError(`No class has the characters ${extra}.`);
  return bits;
};

/** Whether the code belongs to one of these classes. `NaN` and codes beyond ASCII belong to none. */
export const is = (code: number, bits: number): boolean => code < 128 && ((classes[code] ?? 0) & bits) !== 0;

/** Small letter 1, capital 2, digit 3, anything else 0. */
export const kindOf = (code: number): number => {
  if (code >= 97 && code <= 122) return 1;
  if (code >= 65 && code <= 90) return 2;
  return code >= 48 && code <= 57 ? 3 : 0;
};
