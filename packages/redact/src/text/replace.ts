import { hasSequences, mayHaveSequences, withoutSequences, type Mark } from './control-sequences.js';

/** Maximum number of characters that a detector looks back. */
export const lookBehind = 512;

/** A range of a text to replace. */
export interface Secret {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  /** All secrets of one decision that are further ahead, such as those of a column. The text between is searched. */
  readonly more?: readonly Secret[] | undefined;
}

/** The secrets found, and the offset up to which later text cannot change the result. */
export interface Findings {
  readonly secrets: readonly Secret[];
  readonly settled: number;
  /** Secrets that were found ahead and not yet reached. */
  readonly ahead: readonly Secret[];
}

/** The range that a finder searches, and its context. */
export interface Place {
  /** Start of the search; earlier text is context. */
  readonly from: number;
  /** Whether the text is complete. */
  readonly isWhole: boolean;
  /** Whether `text` contains the beginning of the whole text. */
  readonly isBeginning: boolean;
  /** End of the previous secret, if it is still in the text. */
  readonly barrier: number;
  /** Secrets that an earlier search found ahead. */
  readonly ahead: readonly Secret[];
}

/** Finds secrets, in order. */
export type Finder = (text: string, place: Place) => Findings;

/** Receives the kind of each replaced secret. */
export type OnFound = (kind: string) => void;

/** Replaces secrets in arriving text and holds back undecided text. */
export interface ReplacingStream {
  push(chunk: string): string;
  end(): string;
}

/** The place of a complete text. */
export const whole: Place = { from: 0, isWhole: true, isBeginning: true, barrier: 0, ahead: [] };

/**
 * Replaces what each finder finds in a complete text. Control sequences such as colors are preserved and do not hide
 * secrets.
 */
export const replaceAll = (
  text: string,
  finders: readonly Finder[],
  replacement: string,
  onFound?: OnFound,
): string => {
  const maySplit = hasSequences(text) || hasSequences(replacement);
  let rest = text;
  for (const finder of finders) {
    const { visible, marks } = maySplit ? withoutSequences(rest, 0, true) : { visible: rest, marks: [] };
    const { secrets } = finder(visible, whole);
    if (secrets.length === 0) continue;
    rest = rendered({ visible, marks, secrets, from: 0, to: visible.length, replacement, onFound });
  }
  return rest;
};

interface Rendering {
  readonly visible: string;
  readonly marks: readonly Mark[];
  readonly secrets: readonly Secret[];
  readonly from: number;
  readonly to: number;
  readonly replacement: string;
  readonly onFound: OnFound | undefined;
}

/** Returns the text with replacements. A control sequence within a secret moves behind the replacement. */
const rendered = ({ visible, marks, secrets, from, to, replacement, onFound }: Rendering): string => {
  let result = '';
  let last = from;
  let next = 0;
  const copyTo = (end: number): void => {
    for (let mark = marks[next]; mark !== undefined && mark.at <= end; mark = marks[next]) {
      const at = Math.max(mark.at, last);
      result += visible.slice(last, at) + mark.sequence;
      last = at;
      next += 1;
    }
    result += visible.slice(last, end);
    last = end;
  };
  for (const { kind, start, end } of secrets) {
    copyTo(start);
    result += replacement;
    last = end;
    onFound?.(kind);
  }
  copyTo(to);
  return result;
};

/** Replaces secrets in chunks of text, with the same result as {@link replaceAll} for any chunks. */
export const replacingStream = (finder: Finder, replacement: string, onFound?: OnFound): ReplacingStream => {
  let text = '';
  let unread = '';
  let marks: readonly Mark[] = [];
  let place: Place = { ...whole, isWhole: false };
  let retryAt = 0;

  const take = (chunk: string, isWhole: boolean): void => {
    if (unread === '' && !mayHaveSequences(chunk)) {
      text += chunk;
      return;
    }
    const read = withoutSequences(unread + chunk, text.length, isWhole);
    text += read.visible;
    unread = read.rest;
    if (read.marks.length > 0) marks = [...marks, ...read.marks];
  };
  const advance = (isWhole: boolean): string => {
    const { secrets, settled, ahead } = finder(text, { ...place, isWhole });
    const barrier = secrets.at(-1)?.end ?? place.barrier;
    const to = Math.max(settled, barrier, place.from);
    const out =
      secrets.length === 0 && marks.length === 0
        ? text.slice(place.from, to)
        : rendered({ visible: text, marks, secrets, from: place.from, to, replacement, onFound });
    // Keeps enough text before the barrier, so that detectors look back at the same characters as in the whole text.
    const dropped = Math.max(0, to - lookBehind);
    text = text.slice(dropped);
    if (marks.length > 0) {
      marks = marks.filter(({ at }) => at > to).map(({ at, sequence }) => ({ at: at - dropped, sequence }));
    }
    place = {
      from: to - dropped,
      isWhole: false,
      isBeginning: place.isBeginning && dropped === 0,
      barrier: Math.max(0, barrier - dropped),
      ahead: ahead.map(({ kind, start, end }) => ({ kind, start: start - dropped, end: end - dropped })),
    };
    // Long undecided text is searched again only after it has grown by a share, so that single characters take linear
    // time.
    retryAt = text.length + ((text.length - place.from) >> 4);
    return out;
  };
  return {
    push: (chunk) => {
      take(chunk, false);
      return text.length < retryAt ? '' : advance(false);
    },
    end: () => {
      take('', true);
      const out = advance(true);
      text = '';
      retryAt = 0;
      place = { ...whole, isWhole: false };
      return out;
    },
  };
};
