import type { ToolEffect } from '@h/turn';

/** What planning needs to know of a call. */
export interface PlannedCall {
  /** `undefined` counts as the worst. */
  readonly effect?: ToolEffect | undefined;
  /** What the call touches; `undefined` when nobody knows. */
  readonly resources?: readonly string[] | undefined;
}

/**
 * Which calls of a step may run together: waves, to be run one after the other.
 *
 * Neighbouring `read-only` calls whose resources are known form a wave, for reads do not disturb each other whatever they
 * read. Every other call is a wave of its own, and no call passes one that stands before it.
 *
 * @example
 * ```ts
 * planWaves([readA, readB, writeA, readA]); // [[readA, readB], [writeA], [readA]]
 * ```
 */
export const planWaves = <Call extends PlannedCall>(calls: readonly Call[]): readonly (readonly Call[])[] => {
  const waves: Call[][] = [];
  let open: Call[] | undefined;
  for (const call of calls) {
    const isShareable = call.effect === 'read-only' && call.resources !== undefined;
    if (isShareable && open !== undefined) {
      open.push(call);
      continue;
    }
    const wave = [call];
    waves.push(wave);
    open = isShareable ? wave : undefined;
  }
  return waves;
};

/** Whether two keys name the same thing, or one a thing that holds the other (`file:/a` holds `file:/a/b`). */
export const isSameResource = (left: string, right: string): boolean =>
  left === right || holds(left, right) || holds(right, left);

const holds = (outer: string, inner: string): boolean =>
  inner.length > outer.length && inner.startsWith(outer) && (outer.endsWith('/') || inner[outer.length] === '/');

/** Whether two calls touch something in common; unknown resources are everything, and nothing is in common with nothing. */
export const isConflicting = (left: readonly string[] | undefined, right: readonly string[] | undefined): boolean => {
  if (left?.length === 0 || right?.length === 0) return false;
  if (left === undefined || right === undefined) return true;
  return left.some((one) => right.some((other) => isSameResource(one, other)));
};
