import { findAssignment } from './assignment.js';
import { findBearer, findUrlCredentials } from './credentials.js';
import { findPrivateKey } from './private-key.js';
import type { Finder, Secret } from './finder.js';
import { Reader } from './reader.js';
import { findToken, isAnchor } from './token-finder.js';

const hyphen = 45;
const bracket = 93;
const colon = 58;
const nothing = 0;
const sign = 1;
const letterB = 2;
const anchor = 3;

const openerOf = (before: string, character: string): number => {
  if (character === ':') return before === ':' ? nothing : sign;
  if (character === '=') return '=!<>'.includes(before) ? nothing : sign;
  if (character === 'B' && before === '-') return letterB;
  if (character === 'B' || character === 'b') return /\w/.test(before) ? nothing : letterB;
  return isAnchor(before.charCodeAt(0), character.charCodeAt(0)) ? anchor : nothing;
};

/**
 * What two characters may open: an assignment or a URL's user (`sign`), a scheme or a key file (`letterB`), or a token by its
 * anchor. Of characters beyond Latin-1 the low byte counts, which is checked again.
 */
const openers = Uint8Array.from({ length: 65_536 }, (_, pair) => {
  const [before, code] = [pair >>> 8, pair & 255];
  return code < 128 ? openerOf(before < 128 ? String.fromCharCode(before) : ' ', String.fromCharCode(code)) : nothing;
});

/**
 * Finds what has the form of a secret, in one pass.
 *
 * Each character costs a look into a table; only where a secret can be it looks closer, and never further than a bound.
 *
 * @param replacement what stands in the place of secrets; what has it in it is none
 */
export const formFinder =
  (replacement: string): Finder =>
  (text, place) => {
    const reader = new Reader(text, replacement, place);
    const secrets: Secret[] = [];
    // Bytes are looked through in half the time that characters take.
    const bytes = Buffer.from(text, 'latin1');
    const { length } = bytes;
    let before = place.from > place.barrier ? (bytes[place.from - 1] ?? 0) : bracket;
    let index = place.from;
    while (index < length) {
      const byte = bytes[index] ?? 0;
      const opener = openers[(before << 8) | byte] ?? nothing;
      before = byte;
      if (opener !== nothing) {
        const found = look(reader, index, opener);
        if (reader.pendingFrom !== undefined) break;
        if (found !== undefined) {
          secrets.push(found);
          reader.passed(found.end);
          index = found.end;
          before = bracket;
          continue;
        }
      }
      index += 1;
    }
    return { secrets, settled: settledIn(reader) };
  };

const look = (reader: Reader, index: number, opener: number): Secret | undefined => {
  const code = reader.text.charCodeAt(index);
  if (code > 127) return undefined;
  if (opener === anchor) return findToken(reader, index);
  if (opener === letterB) {
    return reader.before(index) === hyphen ? findPrivateKey(reader, index) : findBearer(reader, index);
  }
  const found = code === colon ? findUrlCredentials(reader, index) : undefined;
  return found !== undefined || reader.pendingFrom !== undefined ? found : findAssignment(reader, index);
};

/** Nothing is settled that waits for its end, or that an anchor still to come can reach back to. */
const settledIn = (reader: Reader): number =>
  reader.isWhole ? reader.text.length : (reader.pendingFrom ?? reader.firstUnsettled());
