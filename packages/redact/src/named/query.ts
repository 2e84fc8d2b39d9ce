import { stop } from '../text/characters.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isPasswordLike } from '../values/chosen-value.js';
import { isPlaceholder, looksRandom } from '../values/value.js';

const minValue = 20;
const maxValue = 4096;
/** Matches parameters of URLs whose names have other meanings elsewhere. */
const queryName = /[?&#](?:key|code|auth|sig|appid|magic|ticket|invite|[\w-]{1,16}-signature)$/i;

/** Matches the form of an `appid` of Wolfram. */
const appId = /^[A-Z\d]{6}-[A-Z\d]{10}$/;

/** Whether the name that ends here may be a parameter of a URL. */
export const isQueryName = ({ text, barrier }: Reader, end: number): boolean => {
  return queryName.test(text.slice(Math.max(barrier, end - 28), end));
};

/** Matches the address of a hook up to the sign behind its key. */
const hook = /\/(?:(?:web|deploy-?|build[-_]?)?hooks?|deploy|trigger)\/[\w./-]{1,96}\?key=$/i;
const maxHook = 128;
const minKey = 8;
/** Whether a value is unlike a date and words with signs between them. */
const isKeyLike = (value: string): boolean => isPasswordLike(value) || (/[A-Z]{2}/.test(value) && /[a-z]/.test(value));

/** Finds a long value of a parameter of a URL, and the key of a hook. */
export const findQueryValue = (reader: Reader, start: number): Secret | undefined => {
  const end = reader.endOfRun(start, stop, maxValue, false);
  const value = reader.text.slice(start, end);
  const isOfHook =
    end - start >= minKey && hook.test(reader.text.slice(Math.max(reader.barrier, start - maxHook), start));
  const isKey = isOfHook && /^[\w-]+$/.test(value) && isKeyLike(value) && !isPlaceholder(value);
  if (isKey) return { kind: 'query', start, end };
  const isFound = value.length >= minValue ? looksRandom(value) && !isPlaceholder(value) : appId.test(value);
  return isFound && !value.includes(reader.replacement) ? { kind: 'query', start, end } : undefined;
};
