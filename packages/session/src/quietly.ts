/** Calls an observer and ignores what it throws or rejects with. */
export const quietly = (look: () => unknown): void => {
  try {
    Promise.resolve(look()).catch(() => undefined);
  } catch {
    // A log that fails must not stop what it logs.
  }
};
