/** A value or a promise of it. Synchronous stores add no tick. */
export type MaybePromise<Value> = Value | PromiseLike<Value>;

/** Whether a value is a promise or another object with `then`. */
export const isPromise = <Value>(value: MaybePromise<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && hasThen(value);

/** A revoked proxy and an accessor that throws are values of a store that nothing can be read from. */
const hasThen = (value: object): boolean => {
  try {
    return typeof (value as { readonly then?: unknown }).then === 'function';
  } catch {
    return false;
  }
};

/** Passes a value to `then`: synchronously unless it is a promise. */
export const andThen = <Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> => (isPromise(value) ? value.then(next) : next(value));
