import { isIPv4, isIPv6 } from 'node:net';

/** Checks of `format`, each in linear time. Other formats are only descriptions. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', (text) => isDate(text)],
  ['time', (text) => isTime(text)],
  [
    'date-time',
    (text) => /^.{10}[Tt ].*(?:z|[+-][\d:]+)$/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
  ],
  ['duration', (text) => durationExpression.test(text)],
  ['email', (text) => text.length < 400 && emailExpression.test(text) && isHostname(text.slice(text.indexOf('@') + 1))],
  ['hostname', (text) => isHostname(text)],
  ['ipv4', isIPv4],
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['uri', (text) => /^[a-z][a-z\d+.-]*:/i.test(text) && isReference(text) && URL.canParse(text)],
  ['uri-reference', (text) => isReference(text)],
  ['uri-template', (text) => templateExpression.test(text)],
  ['url', (text) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text)],
  ['uuid', (text) => /^(?:urn:uuid:)?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text)],
  ['json-pointer', (text) => isPointer(text)],
  ['json-pointer-uri-fragment', (text) => text.startsWith('#') && isReference(text) && isPointer(text.slice(1))],
  ['relative-json-pointer', (text) => /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/.test(text)],
  ['regex', (text) => compiled(text, 'u') !== undefined],
]);

/**
 * Compiles an expression in Unicode mode as JSON Schema requires, otherwise without it: `\-` outside of a class is then
 * valid. Returns `undefined` if both fail.
 */
export const expressionOf = (pattern: string): RegExp | undefined =>
  compiled(pattern, 'u') ?? (onlyUnicode.test(pattern) ? undefined : compiled(pattern, ''));

/** Matches escapes that mean something else without Unicode mode. */
const onlyUnicode = /\\(?:[pP]\{|u\{)/;

const compiled = (pattern: string, flags: string): RegExp | undefined => {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
};

/** Whether a string has only characters of a URI, valid escapes and at most one fragment. */
const isReference = (text: string): boolean =>
  /^(?:[!$&-;=?-[\]_a-z~]|%[\da-f]{2})*(?:#(?:[!$&-;=?-[\]_a-z~]|%[\da-f]{2})*)?$/i.test(text);

const isPointer = (text: string): boolean => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text);

const templateExpression = new RegExp(
  String.raw`^(?:[^\s\p{Cc}"'<>%\\^\x60{|}]|%[\da-f]{2}|\{[+#./;?&=,!@|]?NAME(?:,NAME)*\})*$`.replaceAll(
    'NAME',
    String.raw`(?:\w|%[\da-f]{2})+(?::[1-9]\d{0,3}|\*)?`,
  ),
  'iu',
);

const emailExpression = /^(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@[^@]*[^.@]$/;

const amount = String.raw`\d+(?:[.,]\d+)?`;

const optional = (units: string): string => Array.from(units, (unit) => `(?:${amount}${unit})?`).join('');

/** Only the last amount may have a fraction. */
const durationExpression = new RegExp(
  String.raw`^P(?!$)(?=[^.,]*(?:[.,]\d+[A-Z])?$)(?:${amount}W|${optional('YMD')}(?:T(?=\d)${optional('HMS')})?)$`,
);

const isDate = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

const isTime = (text: string): boolean =>
  /^(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/i.test(text);

const isHostname = (text: string): boolean =>
  text.length < 254 && /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*\.?$/i.test(text);
