import { toErrorInfo, TurnError } from '@h/turn';
import pTimeout from 'p-timeout';
import { emptyPoolState, type PoolState, type PoolStore } from './pool-store.js';
import { isActive, isForgotten, windowAfter, type CooldownWindow, type WindowFailure } from './windows.js';

type Windows = PoolState['windows'];
type Change = (windows: Windows, now: number) => Windows;

const storeTimeout = 'store-timeout';
/**
 * A store that hung is read again after this time, so that it does not delay every request. Changes that a store did
 * not accept are written again after the same time.
 */
const storePauseMs = 30_000;
/** More changes than a pool makes while a store is away; the oldest ones are dropped first. */
const maxPending = 1_000;

/** The share of its length by which a window may grow without a notification. */
const smallGrowth = 0.25;

/** Options of {@link Cooldowns}. */
export interface CooldownsOptions {
  readonly store: PoolStore | undefined;
  /** The age at which the state of other processes is read again, in milliseconds. */
  readonly refreshMs: number;
  /** The longest time that a call waits for the store, in milliseconds. */
  readonly storeTimeoutMs: number;
  readonly now: () => number;
  readonly onStoreError: ((error: unknown) => void) | undefined;
}

/**
 * The cooldowns in memory, and in a store that other processes see. A store that fails or hangs delays no turn for
 * long.
 */
export class Cooldowns {
  readonly #options: CooldownsOptions;
  #windows: Windows = {};
  #isEmpty = true;
  /**
   * Changes of this process that the store has not confirmed. They apply to whatever is read until it does; a change
   * that the store has made without an answer has no effect when it is made again.
   */
  #pending: readonly Change[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isWriteScheduled = false;
  #rewriteAt = -Infinity;
  #reading: Promise<void> | undefined;
  #readAt = -Infinity;
  readonly #onChange: () => void;

  constructor(options: CooldownsOptions, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  get(key: string): CooldownWindow | undefined {
    return this.#isEmpty || !Object.hasOwn(this.#windows, key) ? undefined : this.#windows[key];
  }

  entries(): readonly (readonly [string, CooldownWindow])[] {
    return Object.entries(this.#windows);
  }

  fail(key: string, failure: WindowFailure): CooldownWindow {
    this.#apply((windows, now) => {
      const remembered = Object.fromEntries(Object.entries(windows).filter(([, window]) => !isForgotten(window, now)));
      return { ...remembered, [key]: windowAfter(remembered[key], failure) };
    });
    return this.#windows[key] as CooldownWindow;
  }

  /** Forgets windows that have ended. One that began in the meantime stays: the successful call was sent before it. */
  succeed(keys: readonly string[]): void {
    const hasEnded = (window: CooldownWindow | undefined, now: number): boolean =>
      window !== undefined && !isActive(window, now);
    const now = this.#options.now();
    if (!keys.some((key) => hasEnded(this.get(key), now))) return;
    this.#apply((windows, at) =>
      Object.fromEntries(
        Object.entries(windows).filter(([key, window]) => !keys.includes(key) || !hasEnded(window, at)),
      ),
    );
  }

  clear(isMeant: (key: string) => boolean): void {
    this.#apply((windows) => Object.fromEntries(Object.entries(windows).filter(([key]) => !isMeant(key))));
  }

  /**
   * Reads what other processes have written, if the last read is old enough.
   *
   * @returns `undefined` if there is nothing to wait for, as while an earlier read hangs
   */
  refresh(): Promise<void> | undefined {
    const { store, refreshMs, now } = this.#options;
    const age = now() - this.#readAt;
    // After the clock was set back, the last read appears to be in the future.
    if (store === undefined || (age < refreshMs && age >= -storePauseMs)) return undefined;
    this.#reading ??= this.#read(store).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Waits until the store has every change, or has failed to accept it. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #read(store: PoolStore): Promise<void> {
    let isHung = false;
    try {
      const read = async (): Promise<PoolState> => {
        await this.#writing;
        return store.read();
      };
      this.#load(await this.#inTime('read', read));
    } catch (error) {
      this.#report(error);
      isHung = toErrorInfo(error).code === storeTimeout;
    }
    const now = this.#options.now();
    this.#readAt = now + (isHung ? storePauseMs : 0);
    const untilRewrite = this.#rewriteAt - now;
    if (this.#pending.length > 0 && (untilRewrite <= 0 || untilRewrite > storePauseMs)) this.#scheduleWrite(store);
  }

  #apply(change: Change): void {
    const { store, now } = this.#options;
    this.#set(change(this.#windows, now()));
    if (store === undefined) return;
    this.#pending = [...this.#pending, change].slice(-maxPending);
    this.#scheduleWrite(store);
  }

  /** A write takes all changes that are pending when it begins. */
  #scheduleWrite(store: PoolStore): void {
    if (this.#isWriteScheduled) return;
    this.#isWriteScheduled = true;
    this.#writing = this.#writing.then(async () => this.#write(store));
  }

  async #write(store: PoolStore): Promise<void> {
    const { now } = this.#options;
    this.#isWriteScheduled = false;
    const changes = this.#pending;
    const update = async (): Promise<PoolState> =>
      store.update(({ windows }) => ({ version: 1, windows: withChanges(windows, changes, now()) }));
    try {
      const state = await this.#inTime('update', update);
      this.#pending = this.#pending.filter((change) => !changes.includes(change));
      this.#load(state);
    } catch (error) {
      this.#rewriteAt = now() + storePauseMs;
      this.#report(error);
    }
  }

  /** A callback that throws or rejects must not end the writes that follow. */
  #report(cause: unknown): void {
    try {
      const reported: unknown = this.#options.onStoreError?.(cause);
      if (reported instanceof Promise) void Promise.allSettled([reported]);
    } catch {
      // The error of the store has no other reader.
    }
  }

  async #inTime<Result>(method: string, work: () => Promise<Result>): Promise<Result> {
    const { storeTimeoutMs } = this.#options;
    const message = `The pool store did not settle ${method}() within ${storeTimeoutMs} ms. The pool uses what it has in memory.`;
    return pTimeout(work(), { milliseconds: storeTimeoutMs, message: new TurnError(storeTimeout, message) });
  }

  #load({ windows }: PoolState = emptyPoolState): void {
    this.#set(withChanges(windows, this.#pending, this.#options.now()));
  }

  #set(windows: Windows): void {
    // Throws for an answer of the store that is no state, before it replaces the one in memory.
    this.#isEmpty = Object.keys(windows).length === 0;
    const before = this.#windows;
    this.#windows = windows;
    if (hasNews(before, windows, this.#options.now())) this.#onChange();
  }
}

/**
 * Whether calls that wait must look again. Calls that were under way when a window began make it grow a little when they
 * fail, one after the other; a call that waits for the window learns of that when its wait ends.
 */
const hasNews = (before: Windows, after: Windows, now: number): boolean => {
  const known = (windows: Windows, key: string): CooldownWindow | undefined => {
    const window = Object.hasOwn(windows, key) ? windows[key] : undefined;
    return window === undefined || isForgotten(window, now) ? undefined : window;
  };
  return Object.keys({ ...before, ...after }).some((key) => {
    const [old, current] = [known(before, key), known(after, key)];
    if (old === current) return false;
    if (old === undefined || current === undefined || current.until < old.until) return true;
    return current.until - old.until > smallGrowth * (old.until - old.since);
  });
};

const withChanges = (windows: Windows, changes: readonly Change[], now: number): Windows =>
  changes.reduce((state, change) => change(state, now), windows);
