import { lineBreak } from './characters.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { isPlaceholder } from './value.js';

const comma = 44;
const doubleQuote = 34;
const maxEntries = 40;
const maxValue = 16_000;
/** Maximum distance of the kind behind the data. */
const maxAfter = 400;

const kind = /(?:^|\n) {0,12}(?:- )?"?kind"?: ["']?Secret\b/;
const dataBefore = /(?:^|\n)([ -]{0,10})"?(?:data|stringData)"?$/;
const entry = /^(?: ?\{)?\r?\n( {1,16})["']?([\w.-]{1,128})["']?: ["']?(?=[^\s"'|>{[&*])/;

/** Finds the values below `data:` and `stringData:` of a Kubernetes secret, which may have any names. Called for the colon. */
export const findManifestData = (reader: Reader, colon: number): Secret | undefined => {
  const { text } = reader;
  const indent = dataBefore.exec(text.slice(reader.floor(colon), colon))?.[1]?.length;
  if (indent === undefined) return undefined;
  const found: Secret[] = [];
  let end = colon + 1;
  for (let entries = 0; entries < maxEntries; entries += 1) {
    const head = entry.exec(reader.slice(end, end + 160));
    if (head === null || (head[1]?.length ?? 0) <= indent) break;
    const start = end + head[0].length;
    end = reader.endOfRun(start, lineBreak, maxValue, false);
    const isQuoted = text.charCodeAt(start - 1) !== 32;
    const last = isQuoted ? end - (text.charCodeAt(end - 1) === comma ? 2 : 1) : end;
    const value = text.slice(start, last);
    // Certificates are public.
    if (head[2]?.endsWith('.crt') || /\s/.test(value) || isPlaceholder(value)) continue;
    if (!value.includes(reader.replacement)) found.push({ kind: 'kubernetes', start, end: last });
  }
  const [first] = found;
  if (first === undefined) return undefined;
  const isSecret = kind.test(text.slice(reader.floor(colon), colon)) || kind.test(reader.slice(end, end + maxAfter));
  return isSecret ? { ...first, more: found } : undefined;
};

/** Whether the name before the colon may be `data` or `stringData`. */
export const mayBeManifest = ({ text }: Reader, colon: number): boolean =>
  text.endsWith('ata', text.charCodeAt(colon - 1) === doubleQuote ? colon - 1 : colon);
