import type { Reader } from './reader.js';
import type { Secret } from './replace.js';

/** Matches the relative id and the two hashes of an account, in the format of pwdump. */
const accountHashes = /^:\d{1,7}:([\da-f]{32}):([\da-f]{32})(?=:|\s|$)/i;
/** The hash of an empty password. */
const emptyHash = /^(?:aad3b435b51404ee){2}$/i;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

const colon = 58;
const hashLength = 32;

/** Returns the end of the relative id behind a colon. */
const endOfId = (text: string, index: number): number => {
  let end = index + 1;
  while (end < index + 8 && isDigit(text.charCodeAt(end))) end += 1;
  return end;
};

/** Returns quickly whether a relative id and a hash may be behind a colon. */
export const mayBeHashDump = (text: string, index: number): boolean => {
  const end = endOfId(text, index);
  if (end >= text.length) return true;
  const behind = end + hashLength + 1;
  return text.charCodeAt(end) === colon && (behind >= text.length || text.charCodeAt(behind) === colon);
};

/** Finds the hashes in `name:500:…:…:::`, as tools print the accounts of Windows. Called for the first colon. */
export const findHashDump = (reader: Reader, index: number): Secret | undefined => {
  let end = endOfId(reader.text, index);
  if (reader.code(end) !== colon) return undefined;
  const found = accountHashes.exec(reader.slice(index, index + 76));
  if (found === null) return undefined;
  end = index + found[0].length;
  const more = [found[1] ?? '', found[2] ?? ''].flatMap((hash, place): readonly Secret[] => {
    const start = end - (place === 0 ? 65 : 32);
    return emptyHash.test(hash) ? [] : [{ kind: 'password-hash', start, end: start + 32 }];
  });
  return more[0] === undefined ? undefined : { ...more[0], more };
};
