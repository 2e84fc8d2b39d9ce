/** Calls an observer and ignores its errors. */
export const quietly = (look: () => unknown): void => {
  try {
    Promise.resolve(look()).catch(() => undefined);
  } catch {
    // A failing log must not stop the code that it logs.
  }
};
