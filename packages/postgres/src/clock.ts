/** A monotonic clock in milliseconds, for deadlines and leases of this process. */
// oxlint-disable-next-line h/no-clock -- leases end by real time, also while a turn is replayed
export const monotonicMs = (): number => performance.now();

/** A random identifier. */
// oxlint-disable-next-line h/no-clock -- identifies a process, a claim or a request, never something in a turn
export const newId = (): string => crypto.randomUUID();
