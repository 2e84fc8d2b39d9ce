// oxlint-disable-next-line h/no-module-state -- a process ends once: one listener for all files, whatever their number
const callbacks = new Set<() => void>();

const runAll = (): void => {
  for (const callback of callbacks) callback();
};

/** Calls back, synchronously, when the process exits by itself or by `process.exit()`. Returns how to undo it. */
export const onExit = (callback: () => void): (() => void) => {
  if (callbacks.size === 0) process.on('exit', runAll);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) process.off('exit', runAll);
  };
};
