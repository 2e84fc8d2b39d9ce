/** Classes of characters, as bits. */
export const word = 1;
export const token = 2;
export const space = 4;
/** Ends a value that is not in quotes. */
export const stop = 8;
export const base64 = 32;
export const key = 64;
/** What the token of an authorisation header is made of. */
export const bearer = 128;
/** A token, with full stops in it. */
export const dotted = 256;

const classes = new Uint16Array(128);
const mark = (characters: string, bits: number): void => {
  for (const character of characters) classes[character.charCodeAt(0)] = (classes[character.charCodeAt(0)] ?? 0) | bits;
};
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
mark(`${letters}${digits}_`, word);
mark(`${letters}${digits}_-`, token);
mark(`${letters}${digits}_-.`, dotted);
mark(`${letters}${digits}_-.$`, key);
mark(`${letters}${digits}+/=`, base64);
mark(' \t', space);
mark(' \t\r\n\f\v"\'`<>(){}[],;&|\\', stop);
mark(`${letters}${digits}_-.~+/=`, bearer);

/** The classes of a character code; those beyond ASCII have none. */
export const classOf = (code: number): number => (code < 128 ? (classes[code] ?? 0) : 0);

/** Whether the code is of this class. The code of no character, `NaN`, is of none. */
export const is = (code: number, bits: number): boolean => (classOf(code) & bits) !== 0;
