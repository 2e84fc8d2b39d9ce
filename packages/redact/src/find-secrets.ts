import { codeAt } from './text/characters.js';
import { maxReach, Reader, type ReaderSettings } from './text/reader.js';
import { Repetition, type DecidesWithin } from './text/repetition.js';
import type { Finder, Place, Secret } from './text/replace.js';
import { candidateBuffer, Candidates, detect } from './rules.js';

const bracket = 93;
const lineFeed = 10;
/** Minimum distance of a secret ahead, from which the text before it may contain another one, such as the name of a user. */
const minBetween = 16;
const none: readonly Secret[] = [];

/**
 * Creates a finder for secrets by format. It makes one pass with a table lookup per character, and calls a detector
 * only at possible secrets. Each detector reads a bounded number of characters.
 *
 * @param replacement the replacement of secrets; a value that contains it is not a secret
 */
export const formFinder = (replacement: string): Finder => {
  const settings: ReaderSettings = { replacement };
  const buffer = candidateBuffer();
  return (text, place) => {
    const { length } = text;
    const candidates = new Candidates(text, buffer);
    const repetition = new Repetition(text);
    const hasReplacements = text.includes(replacement, place.barrier);
    let reader: Reader | undefined;
    let secrets: Secret[] | undefined;
    let { ahead } = place;
    let limit = ahead[0]?.start ?? length;
    let before = place.isBeginning && place.from === 0 ? lineFeed : bracket;
    if (place.from > place.barrier) before = codeAt(text, place.from - 1) & 255;
    let from = place.from;
    while (from < length) {
      const index = candidates.next(from, limit, before);
      if (index > from) before = codeAt(text, index - 1) & 255;
      if (index === length) break;
      reader ??= new Reader(text, settings, place);
      if (hasReplacements) reader.passReplacements(index);
      const isDecided = ahead.length === 0 && repetition.isDecided(index, reader.barrier);
      const later = isDecided ? repetition.skip(index, decidesWithin(reader, settings, place)) : index;
      if (later > index) {
        before = codeAt(text, later - 1) & 255;
        from = later;
        continue;
      }
      let found: Secret | undefined;
      if (index < limit) {
        reader.hasAhead = ahead.length > 0;
        found = detect(reader, index, before);
        if (reader.starved) {
          return { secrets: secrets ?? none, settled: settledBefore(text, reader.barrier, index), ahead };
        }
        const more = found?.more ?? (found !== undefined && found.start - index >= minBetween ? [found] : undefined);
        if (found !== undefined && more !== undefined) {
          if (found.more !== undefined || found.start < limit) {
            ahead = [...ahead, ...more].toSorted((one, other) => one.start - other.start);
          }
          limit = ahead[0]?.start ?? length;
          found = undefined;
        } else if (found !== undefined && found.end > limit) {
          // What overlaps is replaced as one.
          found = found.start < limit ? { ...found, end: Math.max(found.end, ahead[0]?.end ?? 0) } : undefined;
        }
      } else found = ahead[0];
      if (found === undefined) {
        before = codeAt(text, index) & 255;
        from = index + 1;
        continue;
      }
      (secrets ??= []).push(found);
      reader.pass(found.end);
      from = found.end;
      before = bracket;
      if (ahead.length > 0) ahead = after(ahead, from);
      limit = ahead[0]?.start ?? length;
    }
    const settled = place.isWhole ? length : settledBefore(text, reader?.barrier ?? place.barrier, length);
    return { secrets: secrets ?? none, settled, ahead };
  };
};

/** Returns a function that makes the decisions about a range as if the text were still arriving. */
const decidesWithin =
  ({ text, barrier }: Reader, settings: ReaderSettings, place: Place): DecidesWithin =>
  (from, to, end) =>
    isDecided(new Reader(text.slice(0, end), settings, { ...place, isWhole: false, barrier }), from, to);

/** Whether the decisions about a range find nothing and do not depend on text that has not arrived. */
const isDecided = (reader: Reader, from: number, to: number): boolean => {
  const { text } = reader;
  const candidates = new Candidates(text, candidateBuffer());
  for (let index = from; index < to; index += 1) {
    index = candidates.next(index, to, codeAt(text, index - 1) & 255);
    const before = codeAt(text, index - 1) & 255;
    if (index < to && (detect(reader, index, before) !== undefined || reader.starved)) return false;
  }
  return true;
};

/** Returns the secrets behind an offset, without the empty ones there, which were passed. */
const after = (secrets: readonly Secret[], end: number): readonly Secret[] =>
  secrets.filter((secret) => secret.start >= end && secret.end > end);

/** Returns the offset before which no detector called here or later can find a secret. */
const settledBefore = (text: string, barrier: number, end: number): number => {
  const floor = Math.max(barrier, end - maxReach);
  let index = end;
  while (index > floor && codeAt(text, index - 1) > 32) index -= 1;
  return index;
};
