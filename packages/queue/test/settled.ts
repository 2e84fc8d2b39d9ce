/** Waits until all promises that can settle now have settled. */
export const settled = async (ticks = 60): Promise<void> => {
  for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
};
