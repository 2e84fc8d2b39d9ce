import { codeAt } from './characters.js';
import { firstNotPlain, maxFirstLine, maxPrefix, mayOpen, PlainText, startOfMargin } from './plain-text.js';
import type { Finder, Findings, Place, Secret } from './replace.js';

/** Returns the start of the string around an offset, if it is near; the offset without one. */
const startOfString = (text: string, at: number): number => {
  const quote = text.lastIndexOf('"', at - 1);
  return quote >= Math.max(0, at - maxFirstLine) && mayOpen(text, quote) ? quote + 1 : at;
};

/** Returns the start of the word around an offset; the offset if the word is long. */
const startOfWord = (text: string, at: number): number => {
  const floor = Math.max(0, at - maxPrefix);
  let start = at;
  while (start > floor && codeAt(text, start - 1) > 32) start -= 1;
  return start === floor && floor > 0 ? at : start;
};

/** Returns the start of the blanks that end at an offset. Detectors of what follows a blank are called for the first. */
const startOfBlanks = (text: string, end: number): number => {
  const floor = Math.max(0, end - maxPrefix);
  let start = end;
  while (start > floor && codeAt(text, start - 1) <= 32) start -= 1;
  return start;
};

const trailing = /(?:\\+|"[,\]]?|&#?\w{0,6})$/;
/** Returns the start of what may begin an escape or an entity, or be the end of a string, at the end of a text. */
const beforeEscape = (text: string): number => text.length - (trailing.exec(text.slice(-maxPrefix))?.[0].length ?? 0);

/** Matches the beginning of a line, and of a string whose first escape is not read yet. */
const lineStart = new RegExp(String.raw`(?<=\n|\\[nr])[^\n]{0,${maxPrefix}}$`);
const stringStart = new RegExp(String.raw`(?<!\\)"[^"\\\n]{0,${maxFirstLine}}$`);

/** Returns the end of the part of an unfinished text whose lines later text cannot change. */
const beforeLine = (text: string): number => {
  const floor = Math.max(0, text.length - maxFirstLine - 1);
  const tail = text.slice(floor);
  const starts = [lineStart, stringStart].map((start) => start.exec(tail)?.index ?? tail.length);
  const isFirst = floor === 0 && text.length < maxPrefix;
  return isFirst ? 0 : Math.min(floor + Math.min(...starts), beforeEscape(text));
};

/**
 * Creates a finder for secrets in lines that are not plain, as in `{"output": "user\tpassword\njoe\t…"}`, in pages of HTML
 * and in files with numbers before their lines. It reads what follows the first of them again. Used for one text, because it remembers
 * whether there was one.
 */
export const plainLinesFinder = (forms: Finder): Finder => {
  let isActive = false;
  let margin: string | undefined;
  /**
   * Where the next search begins, from the end of the text that has left: behind it while a part before the first such
   * line is left, before it while a blank is undecided that has left before the entity behind it arrived.
   */
  let offset = 0;
  return (text: string, place: Place): Findings => {
    const until = (end: number): string => (place.isWhole ? text : text.slice(0, Math.max(place.from, end)));
    let from = Math.max(0, place.from + offset);
    if (!isActive) {
      const complete = place.isWhole ? text : until(beforeEscape(text));
      const { length } = complete;
      const found = firstNotPlain(complete, Math.max(0, from - maxPrefix), place.isBeginning, 'secrets');
      if (found === undefined || !(place.isWhole || found.kind !== 'line' || found.end < length)) {
        const settled = (): number =>
          Math.min(startOfString(complete, length), startOfWord(complete, length), startOfMargin(complete));
        return { secrets: [], settled: place.isWhole ? length : settled(), ahead: [] };
      }
      isActive = true;
      margin = found.margin;
      if (found.kind === 'entity') from = startOfBlanks(complete, startOfWord(complete, found.index));
      else from = Math.max(from, found.kind === 'line' ? found.index : startOfString(complete, found.index));
    }
    const known = until(beforeLine(text));
    const view = new PlainText(known, place.isBeginning, 'secrets', margin);
    const inView = (secret: Secret): Secret => ({
      ...secret,
      start: view.plain(secret.start),
      end: view.plain(secret.end),
    });
    const inText = (secret: Secret): Secret => ({
      ...secret,
      start: view.original(secret.start),
      end: view.original(secret.end),
    });
    const found = forms(view.text, {
      ...place,
      from: view.plain(from),
      barrier: view.plain(place.barrier),
      ahead: place.ahead.map(inView),
    });
    const secrets = found.secrets.map(inText);
    const decided = Math.max(view.original(found.settled), secrets.at(-1)?.end ?? place.barrier);
    const settled = Math.max(decided, place.from);
    offset = Math.max(decided, from) - settled;
    return { secrets, settled, ahead: found.ahead.map(inText) };
  };
};
