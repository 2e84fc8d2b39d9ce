import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { skipGap, valueOf, type Key } from './value-of-name.js';

const wideColon = 0xff1a;

/**
 * The words for a password with letters beyond ASCII, in the languages of the European Union, and in Turkish, Vietnamese,
 * Icelandic, Ukrainian, Russian, Serbian, Arabic, Persian, Hebrew, Hindi, Thai, Chinese, Japanese and Korean.
 */
const foreignNames =
  'contraseña|lösenord|hasło|şifre|parolă|jelszó|slaptažodis|lykilorð|mật khẩu|κωδικός(?: πρόσβασης)?|пароль|парола|лозинка|密码|密碼|口令|パスワード|비밀번호|암호|รหัสผ่าน|पासवर्ड|كلمة المرور|كلمة السر|رمز عبور|گذرواژه|סיסמה|סיסמא';
const foreignName = new RegExp(`(?:${foreignNames})$`, 'i');
const anyForeignName = new RegExp(foreignNames, 'i');
const maxName = 24;

/** Offsets of letters beyond ASCII from the end of these words. */
const places = [1, 2, 5, 7];

/** Returns whether the text contains such a word, with any ending. */
export const isForeignName = (text: string): boolean => anyForeignName.test(text);

/** Returns the key of a word for a password that ends here, if it has letters beyond ASCII. */
export const foreignKey = ({ text, barrier }: Reader, end: number): Key | undefined => {
  if (!places.some((place) => text.charCodeAt(end - place) > 127)) return undefined;
  if (!foreignName.test(text.slice(Math.max(barrier, end - maxName), end))) return undefined;
  return { name: 'password', strength: 'strong', start: end, isQuoted: false, isTight: false };
};

/** Finds the value behind the wide colon of `密码：…`. Called for the character behind it. */
export const findBehindWideColon = (reader: Reader, index: number): Secret | undefined => {
  const start = index - 1;
  if (start < reader.barrier || reader.text.charCodeAt(start) !== wideColon) return undefined;
  const key = foreignKey(reader, start);
  return key === undefined ? undefined : valueOf(reader, key, skipGap(reader, index), { isColon: true });
};
