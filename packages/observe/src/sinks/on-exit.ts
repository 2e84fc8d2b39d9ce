// oxlint-disable-next-line h/no-module-state -- one process listener serves all files
const callbacks = new Set<() => void>();

const runAll = (): void => {
  for (const callback of callbacks) callback();
};

/** Calls `callback` synchronously when the process exits. Returns a function that removes the callback. */
export const onExit = (callback: () => void): (() => void) => {
  if (callbacks.size === 0) process.on('exit', runAll);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) process.off('exit', runAll);
  };
};
