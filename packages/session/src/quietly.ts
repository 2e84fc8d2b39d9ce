/** Calls one who only looks on: what it throws, now or later, changes nothing. */
export const quietly = (look: () => unknown): void => {
  try {
    Promise.resolve(look()).catch(() => undefined);
  } catch {
    // A view or a log that fails must not take down what it looks at.
  }
};
