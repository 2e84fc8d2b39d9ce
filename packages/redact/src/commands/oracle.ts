import { stop } from '../text/characters.js';
import { isPasswordLike } from '../values/chosen-value.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';

const maxLogin = 96;
const login = /^["']?[A-Za-z][\w$#]{0,30}\/(?!\/)([^/\s@]{6,64})(?=@|$)/;

/** Finds the password in `user/password@database`. @param from the offset of the user */
export const findOracleLogin = (reader: Reader, from: number): Secret | undefined => {
  const end = reader.endOfRun(from, stop, maxLogin, false);
  const argument = reader.text.slice(from, end);
  const password = login.exec(argument)?.[1];
  if (password === undefined || password.includes(reader.replacement)) return undefined;
  if (!isPasswordLike(password)) return undefined;
  const start = from + argument.indexOf('/') + 1;
  return { kind: 'user-password', start, end: start + password.length };
};
