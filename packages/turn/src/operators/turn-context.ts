/** The part of an `AsyncLocalStorage` that carries its value to another context. */
interface Storage {
  getStore(): unknown;
  run<Result>(value: unknown, callback: () => Result): Result;
}

// oxlint-disable-next-line h/no-module-state -- the storages, which modules create once; their values belong to contexts
const storages = new Set<Storage>();

/**
 * Makes the value of a storage follow a turn to the tools of a bridge, which run in the asynchronous context of their
 * host. Call it once for a storage that an operator sets for the events of its turn.
 */
export const followTurn = (storage: Storage): void => void storages.add(storage);

/** Returns a function that runs a callback with the followed values of the current context. */
export const captureTurn = (): (<Result>(callback: () => Result) => Result) => {
  const values = [...storages].flatMap((storage) => {
    const value = storage.getStore();
    return value === undefined ? [] : [{ storage, value }];
  });
  return (callback) =>
    values.reduceRight(
      (run, { storage, value }) =>
        () =>
          storage.run(value, run),
      callback,
    )();
};
