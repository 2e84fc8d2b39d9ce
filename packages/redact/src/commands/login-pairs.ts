import { isPasswordLike } from '../values/chosen-value.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import type { Key } from '../names/key.js';
import { isPlaceholder } from '../values/value.js';

const maxPair = 180;

/** The names of users in logins. */
export const userNames =
  'id|uid|user(?:[ _-]?(?:name|id))?|log-?in|account|e-?mail|usuario|utilisateur|benutzer(?:name)?|utente|gebruiker|логин|пользователь|아이디|계정|账号|帳號|用户名|ユーザー名?';
/** Matches the name of a user and a sign, before the name of a password. */
const userName = new RegExp(String.raw`(?:^|[^\p{L}\d])(?:ip ?[/,] ?)?(?:${userNames}) ?\)? ?[/,&:|(] ?$`, 'iu');
const passwordName = /^(?:pw|pwd|pass|passwd|password|passwort|kennwort|senha|clave)$/i;
/** Matches a sign, possibly a host, the user, a sign and the password, in the order of the names. */
const values =
  /^ ?\)?(?: ?(?:[:=]|[-=]>|is|are) ?| )(?:for [\w.-]{1,32} )?\(?(?:\d{1,3}(?:\.\d{1,3}){3}[ /])?[\w.@+-]{1,64} ?(?:\/{1,2}|[,:(]) ?([!#-&(-_a-~]{6,64}?)(?=[\s),;/"'`]|$)/;

/** Finds the password in `ID/PW: joe/…` and `user, password = joe, …`. @param end the end of the name of the password */
export const findLoginPair = (reader: Reader, key: Key, end: number): Secret | undefined => {
  const { text } = reader;
  if (!passwordName.test(key.name) || !userName.test(text.slice(Math.max(reader.barrier, key.start - 24), key.start))) {
    return undefined;
  }
  const found = values.exec(reader.slice(end, end + maxPair));
  const value = found?.[1] ?? '';
  if (found === null || !isPasswordLike(value) || isPlaceholder(value) || value.includes(reader.replacement)) {
    return undefined;
  }
  const start = end + found[0].length - value.length;
  return { kind: 'user-password', start, end: start + value.length };
};
