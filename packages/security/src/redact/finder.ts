/** A part of a text that is to be replaced. */
export interface Secret {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** What was found, and up to where that cannot change any more by what follows. */
export interface Findings {
  readonly secrets: readonly Secret[];
  readonly settled: number;
}

/** Where in a text a finder is to look, and what it may take for granted. */
export interface Place {
  /** Where to begin; what stands before is only looked back at. */
  readonly from: number;
  /** Whether nothing follows. */
  readonly isWhole: boolean;
  /** Whether nothing came before. */
  readonly isBeginning: boolean;
  /** End of the last secret that was found, if it is still there. */
  readonly barrier: number;
}

/** Finds secrets, in their order. */
export type Finder = (text: string, place: Place) => Findings;

/** No finder looks back further than this. */
export const lookBehind = 160;

const whole: Place = { from: 0, isWhole: true, isBeginning: true, barrier: 0 };

/** Goes through a whole text; tells of each kind that was replaced. */
export const replaceAll = (
  text: string,
  finder: Finder,
  replacement: string,
  onFound?: (kind: string) => void,
): string => {
  const { secrets } = finder(text, whole);
  return secrets.length === 0 ? text : replaced(text, secrets, 0, text.length, replacement, onFound);
};

const replaced = (
  text: string,
  secrets: readonly Secret[],
  from: number,
  to: number,
  replacement: string,
  onFound: ((kind: string) => void) | undefined,
): string => {
  let result = '';
  let last = from;
  for (const { kind, start, end } of secrets) {
    result += text.slice(last, start) + replacement;
    last = end;
    onFound?.(kind);
  }
  return result + text.slice(last, to);
};

/** Goes through a text as it comes, holding back what is not decided. */
export interface ReplacingStream {
  push(chunk: string): string;
  end(): string;
}

/** The same as {@link replaceAll} for any division into chunks. */
export const replacingStream = (
  finder: Finder,
  replacement: string,
  onFound?: (kind: string) => void,
): ReplacingStream => {
  let text = '';
  let place: Place = { ...whole, isWhole: false };

  const advance = (isWhole: boolean): string => {
    const { secrets, settled } = finder(text, { ...place, isWhole });
    const barrier = secrets.at(-1)?.end ?? place.barrier;
    const upTo = Math.max(settled, barrier, place.from);
    const out = replaced(text, secrets, place.from, upTo, replacement, onFound);
    const dropped = Math.max(0, Math.min(upTo, Math.max(barrier, upTo - lookBehind)));
    text = text.slice(dropped);
    place = {
      from: upTo - dropped,
      isWhole: false,
      isBeginning: place.isBeginning && dropped === 0,
      barrier: Math.max(0, barrier - dropped),
    };
    return out;
  };
  return {
    push: (chunk) => {
      text += chunk;
      return advance(false);
    },
    end: () => {
      const out = advance(true);
      text = '';
      place = { ...whole, isWhole: false };
      return out;
    },
  };
};
