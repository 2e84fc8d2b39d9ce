/** A value, or a promise of it. */
export type Maybe<Value> = Value | Promise<Value>;

/** Passes a value to `next`: without a promise if it is available, so synchronous code stays synchronous. */
export const chain = <Value, Next>(value: Maybe<Value>, next: (value: Value) => Maybe<Next>): Maybe<Next> =>
  value instanceof Promise ? value.then(next) : next(value);

/** Visits the items in order until `visit` returns `true`. */
export const untilDone = <Item>(
  items: readonly Item[],
  visit: (item: Item, index: number) => Maybe<boolean>,
  from = 0,
): Maybe<void> => {
  for (let index = from; index < items.length; index += 1) {
    const done = visit(items[index] as Item, index);
    if (done instanceof Promise) return afterwards(done, items, visit, index + 1);
    if (done) return undefined;
  }
};

const afterwards = async <Item>(
  done: Promise<boolean>,
  items: readonly Item[],
  visit: (item: Item, index: number) => Maybe<boolean>,
  from: number,
): Promise<void> => ((await done) ? undefined : untilDone(items, visit, from));
