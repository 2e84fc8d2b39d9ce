import type { ToolEffect } from '@h/turn';

/** The properties of a call that decide which calls may run together. */
export interface PlannedCall {
  /** `undefined` counts as `destructive`. */
  readonly effect?: ToolEffect | undefined;
  /** Resources that the call touches; `undefined` if unknown. */
  readonly resources?: readonly string[] | undefined;
}

/**
 * Groups the calls of a step into waves that run one after another; the calls of a wave run concurrently.
 *
 * Adjacent `read-only` calls with known resources form one wave. Every other call forms its own wave, and the order of
 * calls is preserved across waves.
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

/** Returns whether two keys are equal or one contains the other (`file:/a` contains `file:/a/b`). */
const isSameResource = (left: string, right: string): boolean =>
  left === right || holds(left, right) || holds(right, left);

const holds = (outer: string, inner: string): boolean =>
  inner.length > outer.length && inner.startsWith(outer) && (outer.endsWith('/') || inner[outer.length] === '/');

/** Returns whether two calls share a resource. Unknown resources (`undefined`) conflict with all except none (`[]`). */
export const isConflicting = (left: readonly string[] | undefined, right: readonly string[] | undefined): boolean => {
  if (left?.length === 0 || right?.length === 0) return false;
  if (left === undefined || right === undefined) return true;
  return left.some((one) => right.some((other) => isSameResource(one, other)));
};
