import { emptyPoolState, type PoolState, type PoolStore } from './pool-store.js';
import { isActive, isForgotten, windowAfter, type CooldownWindow, type WindowFailure } from './windows.js';

type Windows = PoolState['windows'];
type Change = (windows: Windows, now: number) => Windows;

/** Options of {@link Cooldowns}. */
export interface CooldownsOptions {
  readonly store: PoolStore | undefined;
  /** After how long the state of other processes is read again, in milliseconds. */
  readonly refreshMs: number;
  readonly now: () => number;
  readonly onStoreError: ((error: unknown) => void) | undefined;
}

/** Who is left alone and until when: in memory, and in a store that other processes see. */
export class Cooldowns {
  readonly #options: CooldownsOptions;
  #windows: Windows = {};
  #isEmpty = true;
  /** Changes that are made here and not written yet. */
  #pending: readonly Change[] = [];
  #writing: Promise<void> = Promise.resolve();
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
      const kept = Object.entries(windows).filter(([, window]) => !isForgotten(window, now));
      return { ...Object.fromEntries(kept), [key]: windowAfter(windows[key], failure) };
    });
    return this.#windows[key] as CooldownWindow;
  }

  /** Forgets windows that are over. One that began meanwhile stays: what has succeeded was asked before it. */
  succeed(keys: readonly string[]): void {
    const isOver = (window: CooldownWindow | undefined, now: number): boolean =>
      window !== undefined && !isActive(window, now);
    const now = this.#options.now();
    if (!keys.some((key) => isOver(this.get(key), now))) return;
    this.#apply((windows, at) =>
      Object.fromEntries(Object.entries(windows).filter(([key, window]) => !keys.includes(key) || !isOver(window, at))),
    );
  }

  clear(isMeant: (key: string) => boolean): void {
    this.#apply((windows) => Object.fromEntries(Object.entries(windows).filter(([key]) => !isMeant(key))));
  }

  /** Reads what other processes have written, if that was a while ago. @returns nothing when there is nothing to wait for */
  refresh(isForced = false): Promise<void> | undefined {
    const { store, refreshMs, now } = this.#options;
    if (store === undefined || (!isForced && now() - this.#readAt < refreshMs)) return undefined;
    this.#reading ??= this.#read(store).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Waits until all that has happened is written. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #read(store: PoolStore): Promise<void> {
    try {
      await this.#writing;
      this.#take(await store.read());
    } catch (error) {
      this.#options.onStoreError?.(error);
    }
    this.#readAt = this.#options.now();
  }

  #apply(change: Change): void {
    const { store, now, onStoreError } = this.#options;
    this.#set(change(this.#windows, now()));
    this.#onChange();
    if (store === undefined) return;
    this.#pending = [...this.#pending, change];
    const done = (): void => {
      this.#pending = this.#pending.filter((other) => other !== change);
    };
    this.#writing = this.#writing.then(async () => {
      try {
        const state = await store.update(({ windows }) => ({ version: 1, windows: change(windows, now()) }));
        done();
        this.#take(state);
      } catch (error) {
        done();
        onStoreError?.(error);
      }
    });
  }

  #take({ windows }: PoolState = emptyPoolState): void {
    const now = this.#options.now();
    this.#set(this.#pending.reduce((state, change) => change(state, now), windows));
    this.#onChange();
  }

  #set(windows: Windows): void {
    this.#windows = windows;
    this.#isEmpty = Object.keys(windows).length === 0;
  }
}
