import { isIPv4, isIPv6 } from 'node:net';

/** Checks of `format`, each in linear time. Other formats are only descriptions. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', (text) => isDate(text)],
  ['time', (text) => isTime(text)],
  ['date-time', (text) => /^.{10}[Tt ]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11))],
  [
    'duration',
    (text) => /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/.test(text),
  ],
  [
    'email',
    (text) => text.length < 400 && /^[^\s@"]+@[^\s@]+$/.test(text) && isHostname(text.slice(text.indexOf('@') + 1)),
  ],
  ['hostname', (text) => isHostname(text)],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['uri', (text) => /^[a-z][a-z\d+.-]*:[^\s<>"\\^`{|}]*$/i.test(text) && URL.canParse(text)],
  ['uri-reference', (text) => /^[^\s<>"\\^`{|}]*$/.test(text)],
  ['uuid', (text) => /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text)],
  ['json-pointer', (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text)],
  ['regex', (text) => expressionOf(text) !== undefined],
]);

/** Compiles an expression as JSON Schema requires; `undefined` if it is invalid. */
export const expressionOf = (pattern: string): RegExp | undefined => {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
};

const isDate = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

const isTime = (text: string): boolean =>
  /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i.test(text);

const isHostname = (text: string): boolean =>
  text.length < 254 && /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*\.?$/i.test(text);
