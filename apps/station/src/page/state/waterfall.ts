import type { StationTrace } from '../../api/contract.js';

type Bar = StationTrace['bars'][number];

/** A row of the waterfall, with its place on the time axis as shares of the width. */
export interface WaterfallRow {
  readonly bar: Bar;
  readonly depth: number;
  readonly left: number;
  readonly width: number;
  readonly isRunning: boolean;
}
export interface Waterfall {
  readonly rows: readonly WaterfallRow[];
  readonly totalMs: number;
  readonly ticks: readonly number[];
  readonly marks: readonly (StationTrace['marks'][number] & { readonly left: number })[];
}

const maxDepth = 8;

/** Arranges the bars of a turn: children below their parents, in the order in which they began. */
export const arrangeTrace = (trace: StationTrace, now: number): Waterfall => {
  const elapsed = Math.max(0, now - trace.startedAt);
  const isRunning = trace.outcome === null;
  const ends = trace.bars.map(({ startMs, endMs }) => endMs ?? (isRunning ? Math.max(elapsed, startMs) : startMs));
  const totalMs = Math.max(1, ...ends, ...trace.marks.map(({ atMs }) => atMs));
  const children = new Map<string | null, Bar[]>();
  const ids = new Set(trace.bars.map(({ id }) => id));
  for (const bar of trace.bars) {
    const parent = bar.parent !== null && ids.has(bar.parent) && bar.parent !== bar.id ? bar.parent : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(bar);
    else children.set(parent, [bar]);
  }
  const rows: WaterfallRow[] = [];
  const seen = new Set<string>();
  const add = (parent: string | null, depth: number): void => {
    for (const bar of (children.get(parent) ?? []).toSorted((left, right) => left.startMs - right.startMs)) {
      if (seen.has(bar.id)) continue;
      seen.add(bar.id);
      const end = bar.endMs ?? (isRunning ? Math.max(elapsed, bar.startMs) : bar.startMs);
      rows.push({
        bar,
        depth: Math.min(depth, maxDepth),
        left: bar.startMs / totalMs,
        width: Math.max(0, end - bar.startMs) / totalMs,
        isRunning: bar.endMs === null && isRunning,
      });
      add(bar.id, depth + 1);
    }
  };
  add(null, 0);
  return {
    rows,
    totalMs,
    ticks: ticksOf(totalMs),
    marks: trace.marks.map((mark) => ({ ...mark, left: mark.atMs / totalMs })),
  };
};

/** Round moments on the time axis, at most seven. */
export const ticksOf = (totalMs: number): readonly number[] => {
  const step = niceStep(totalMs / 5);
  const ticks: number[] = [];
  for (let at = 0; at <= totalMs; at += step) ticks.push(at);
  return ticks;
};

/** The smallest of 1, 2 and 5 times a power of ten that is not below a value. */
export const niceStep = (least: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  const factor = [1, 2, 5, 10].find((each) => each * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
};
