/** A value or a promise of it. Synchronous stores add no tick. */
export type MaybePromise<Value> = Value | PromiseLike<Value>;

/**
 * Whether a value is a promise or another object with `then`. Never throws, whatever a store, a tool or a callback
 * returns.
 */
export const isPromise = <Value>(value: MaybePromise<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && hasThen(value);

/** Reading `then` fails for a revoked proxy and for an accessor that throws. */
const hasThen = (value: object): boolean => {
  try {
    return typeof (value as { readonly then?: unknown }).then === 'function';
  } catch {
    return false;
  }
};

/**
 * Passes a value to `next`: synchronously unless it is a promise. A rejection passes to the result.
 *
 * @example
 * ```ts
 * const size = andThen(store.read('a'), (text: string) => text.length);
 * ```
 */
export const andThen = <Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> => (isPromise(value) ? value.then(next) : next(value));
