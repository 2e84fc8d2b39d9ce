/** A position in a JSON document: member names and indexes, from the outside in. */
export type JsonPath = readonly (string | number)[];

/** The range of a value in a JSON text. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
}

/** The replacement of a range of a text. */
export interface TextEdit extends JsonRange {
  readonly text: string;
}

interface Frame {
  readonly start: number;
  readonly isArray: boolean;
}

/**
 * Calls `visit` for every value of a valid JSON text, the innermost first. `path` is reused between calls.
 *
 * Members with the same name are all visited, although only the last counts for `JSON.parse`. Time is linear, and depth
 * is limited by memory only.
 */
export const visitJson = (text: string, visit: (path: JsonPath, range: JsonRange) => void): void => {
  const path: (string | number)[] = [];
  const frames: Frame[] = [];
  let expectsName = false;
  let index = 0;
  const finish = (start: number, end: number): void => {
    visit(path, { start, end });
    index = end;
  };
  while (index < text.length) {
    switch (text.charCodeAt(index)) {
      case quote: {
        const end = endOfString(text, index);
        if (expectsName) {
          path.push(JSON.parse(text.slice(index, end)) as string);
          expectsName = false;
          index = end;
        } else finish(index, end);
        break;
      }
      case openBrace:
        frames.push({ start: index, isArray: false });
        expectsName = true;
        index += 1;
        break;
      case openBracket:
        frames.push({ start: index, isArray: true });
        path.push(0);
        index += 1;
        break;
      case closeBrace:
      case closeBracket: {
        const frame = frames.pop();
        // An empty object has no open member.
        if (frame?.isArray === true || !expectsName) path.pop();
        expectsName = false;
        finish(frame?.start ?? index, index + 1);
        break;
      }
      case comma: {
        const last = path.pop();
        if (typeof last === 'number' && frames.at(-1)?.isArray === true) path.push(last + 1);
        else expectsName = true;
        index += 1;
        break;
      }
      case colon:
      case space:
      case tab:
      case lineFeed:
      case carriageReturn:
        index += 1;
        break;
      default:
        finish(index, endOfScalar(text, index));
    }
  }
};

const [quote, openBrace, closeBrace, openBracket, closeBracket, comma, colon, backslash] = [
  0x22, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a, 0x5c,
];
const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d];

/** Returns the index after a string that begins at `start`. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
};

const scalar = /[^\s,\]}]+/y;

const endOfScalar = (text: string, start: number): number => {
  scalar.lastIndex = start;
  return start + Math.max(1, scalar.exec(text)?.[0].length ?? 1);
};

/** Returns the ranges of the elements of an array that is a member of the document, such as `messages`. */
export const elementRanges = (text: string, member: string): readonly JsonRange[] => {
  let ranges: JsonRange[] = [];
  visitJson(text, (path, range) => {
    if (path[0] !== member || path.length > 2) return;
    // With repeated members, the last counts.
    if (path.length === 2 && path[1] === 0) ranges = [];
    if (path.length === 2) ranges.push(range);
  });
  return ranges;
};

/** Returns the edits that give the values at these paths a new value. Paths that do not exist have none. */
export const editsAt = (
  text: string,
  changes: readonly { readonly path: JsonPath; readonly value: unknown }[],
): readonly TextEdit[] => {
  if (changes.length === 0) return [];
  const wanted = new Map(changes.map(({ path, value }) => [keyOf(path), JSON.stringify(value)]));
  const depths = new Set(changes.map(({ path }) => path.length));
  const firsts = new Set(changes.map(({ path }) => path[0]));
  const edits: TextEdit[] = [];
  visitJson(text, (path, range) => {
    if (!depths.has(path.length) || !firsts.has(path[0])) return;
    const value = wanted.get(keyOf(path));
    if (value !== undefined) edits.push({ ...range, text: value });
  });
  return edits;
};

const keyOf = (path: JsonPath): string => JSON.stringify(path);

/** Applies edits whose ranges do not overlap. */
export const applyEdits = (text: string, edits: readonly TextEdit[]): string => {
  const parts: string[] = [];
  let position = 0;
  for (const { start, end, text: replacement } of edits.toSorted((left, right) => left.start - right.start)) {
    parts.push(text.slice(position, start), replacement);
    position = end;
  }
  parts.push(text.slice(position));
  return parts.join('');
};
