/** A value now, or later. */
export type Maybe<Value> = Value | Promise<Value>;

export const isPromise = <Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/** Continues with a value: immediately if it is available, so that what is synchronous stays so. */
export const chain = <Value, Next>(value: Maybe<Value>, next: (value: Value) => Maybe<Next>): Maybe<Next> =>
  value instanceof Promise ? value.then(next) : next(value);

/** Visits one after the other until a visitor says that it is enough. */
export const untilDone = <Item>(
  items: readonly Item[],
  visit: (item: Item, index: number) => Maybe<boolean>,
  from = 0,
): Maybe<void> => {
  for (let index = from; index < items.length; index += 1) {
    const done = visit(items[index] as Item, index);
    if (done instanceof Promise) {
      return done.then((isDone) => (isDone ? undefined : untilDone(items, visit, index + 1)));
    }
    if (done) return undefined;
  }
};
