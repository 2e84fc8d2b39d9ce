import { dotted, is, token, word } from './characters.js';
import type { Secret } from './finder.js';
import { maxReach, type Reader } from './reader.js';
import { tokenForms, type TokenForm } from './token-forms.js';
import { isPlaceholder, looksRandom } from './value.js';

/** Characters by how rarely texts have them, the rarest first: a prefix is noticed by the rarest of its own. */
const rarest = 'KJXZQGPSAENOIM_-.';

/** Enough to tell a token from words. */
const maxLooked = 96;

const jwt = /^[\w-]{8,}\.(?:eyJ[\w-]{6,}\.[\w-]*|[\w-]{8,}\.[\w-]{16,})/;

interface Anchored {
  readonly form: TokenForm;
  /** Place of the anchor in the prefix. */
  readonly offset: number;
}

const anchored = (form: TokenForm): Anchored => {
  const rank = (character: string): number => (rarest.includes(character) ? rarest.indexOf(character) : rarest.length);
  const reach = form.prefix.slice(1, maxReach);
  const best = Array.from(reach).reduce((chosen, character) => (rank(character) < rank(chosen) ? character : chosen));
  return { form, offset: reach.indexOf(best) + 1 };
};

/** The forms by the anchor of their prefix and the character before it, those with longer prefixes first. */
const buckets: readonly (readonly Anchored[])[] = ((): Anchored[][] => {
  const grouped: Record<string, Anchored[]> = {};
  for (const form of tokenForms.toSorted((one, other) => other.prefix.length - one.prefix.length)) {
    const found = anchored(form);
    (grouped[form.prefix.slice(found.offset - 1, found.offset + 1)] ??= []).push(found);
  }
  return Object.values(grouped);
})();

/** Place of the bucket, from 1, by the two codes. */
const bucketOf = new Uint8Array(128 * 128);
for (const [index, [first]] of buckets.entries()) {
  if (first !== undefined) {
    bucketOf[first.form.prefix.charCodeAt(first.offset - 1) * 128 + first.form.prefix.charCodeAt(first.offset)] =
      index + 1;
  }
}

/** Whether some prefix is noticed by these two characters. */
export const isAnchor = (before: number, code: number): boolean => (bucketOf[before * 128 + code] ?? 0) > 0;

/** The token whose prefix has its anchor here. */
export const findToken = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const place = bucketOf[text.charCodeAt(index - 1) * 128 + text.charCodeAt(index)] ?? 0;
  for (const { form, offset } of buckets[place - 1] ?? []) {
    const start = index - offset;
    if (start < reader.barrier || is(reader.before(start), word)) continue;
    const { length } = form.prefix;
    if (!text.startsWith(form.prefix, start)) {
      const rest = text.slice(start, start + length);
      if (start + rest.length === text.length && form.prefix.startsWith(rest) && reader.waits(text.length, start)) {
        return undefined;
      }
      continue;
    }
    const found = verify(reader, form, start);
    if (found !== undefined || reader.pendingFrom !== undefined) return found;
  }
  return undefined;
};

const verify = (reader: Reader, form: TokenForm, start: number): Secret | undefined => {
  const { text } = reader;
  const bodyStart = start + form.prefix.length;
  const runEnd = endOfBody(reader, form, bodyStart);
  if (runEnd < bodyStart + form.max && reader.waits(runEnd, start)) return undefined;
  // A full stop ends a sentence, not a token.
  const bodyEnd = runEnd > bodyStart && text.charAt(runEnd - 1) === '.' ? runEnd - 1 : runEnd;
  if (bodyEnd - bodyStart < form.min) return undefined;
  if (form.min === form.max && isCut(reader, bodyEnd, start)) return undefined;
  if (form.kind === 'jwt' && !jwt.test(text.slice(bodyStart, bodyEnd))) return undefined;
  const body = text.slice(bodyStart, Math.min(bodyEnd, bodyStart + maxLooked));
  if (!isPlausible(body, form) || isPlaceholder(body)) return undefined;
  return { kind: form.kind, start: form.keepsPrefix === true ? bodyStart : start, end: bodyEnd };
};

/** A token of one length that goes on is another thing; what cannot be known yet waits. */
const isCut = (reader: Reader, end: number, start: number): boolean =>
  reader.waits(end, start) || is(reader.text.charCodeAt(end), word);

const endOfBody = (reader: Reader, { extra, max }: TokenForm, start: number): number => {
  const { text } = reader;
  if (extra === '.') return reader.endOfRun(start, dotted, max);
  let end = reader.endOfRun(start, token, max);
  if (extra === undefined) return end;
  while (
    end < text.length &&
    end < start + max &&
    (extra.includes(text.charAt(end)) || is(text.charCodeAt(end), token))
  ) {
    end += 1;
  }
  return end;
};

const isPlausible = (body: string, form: TokenForm): boolean => {
  if (form.weak === true) return looksRandom(body);
  if (form.kind === 'aws-access-key') return /^[A-Z2-7]{16}$/.test(body) && !body.endsWith('EXAMPLE');
  return new Set(body).size >= 8 && (/\d/.test(body) || (/[A-Z]{2}/.test(body) && /[a-z][A-Z]/.test(body)));
};
