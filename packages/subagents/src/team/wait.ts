import { aliveOf, type Child, type Member } from './family.js';

/** The reason why a wait ended. */
export type WaitEnd = 'all-ended' | 'timed-out' | 'message' | 'aborted';

/** Conditions that end a wait early. */
export interface WaitUntil {
  /** A deadline for the whole wait, in milliseconds from now. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when new input arrives for the waiting turn. */
  readonly onInput?: Set<() => void> | undefined;
  readonly after: (delayMs: number, callback: () => void) => () => void;
}

/** Waits until `isDone` returns `true`. It is called at once and whenever a sub-agent of the agent has ended. */
export const waitFor = (
  member: Member,
  isDone: () => boolean,
  { timeoutMs, signal, onInput, after }: WaitUntil,
): Promise<WaitEnd> => {
  if (isDone()) return Promise.resolve('all-ended');
  if (signal?.aborted === true) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const stopTimer = timeoutMs === undefined ? undefined : after(timeoutMs, () => end('timed-out'));
    const end = (why: WaitEnd): void => {
      stopTimer?.();
      member.listeners.delete(onEnd);
      onInput?.delete(onMessage);
      signal?.removeEventListener('abort', aborted);
      resolve(why);
    };
    const onEnd = (): void => {
      if (isDone()) end('all-ended');
    };
    const onMessage = (): void => end('message');
    const aborted = (): void => end('aborted');
    member.listeners.add(onEnd);
    onInput?.add(onMessage);
    signal?.addEventListener('abort', aborted, { once: true });
  });
};

/** Returns whether a result may still arrive: the sub-agent is running and not stopped. */
export const isUnderWay = (child: Child): boolean => child.end === undefined && child.parent.children.has(child);

/** Returns running sub-agents whose results go to the parent. */
export const awaitedOf = (member: Member | undefined): readonly Child[] =>
  aliveOf(member).filter(({ record }) => record.receiver === 'parent');
