/** Limits concurrent work; further tasks wait in order of arrival. */
export class Gate {
  readonly #places: number;
  #taken = 0;
  /** Returning tasks precede new ones, because they are closer to their end. */
  readonly #back = new Set<() => void>();
  readonly #queue = new Set<() => void>();

  constructor(places: number) {
    this.#places = places;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#back.size + this.#queue.size;
  }

  /** Resolves to `true` once a slot is free; to `false` if the signal was aborted first. */
  enter(signal: AbortSignal | undefined, isBack = false): Promise<boolean> {
    if (signal?.aborted === true) return Promise.resolve(false);
    const queue = isBack ? this.#back : this.#queue;
    if (this.#taken < this.#places && this.#back.size === 0 && (isBack || this.#queue.size === 0)) {
      this.#taken += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const admit = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = (): void => {
        queue.delete(admit);
        resolve(false);
      };
      queue.add(admit);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  leave(): void {
    this.#taken -= 1;
    while (this.#taken < this.#places) {
      const queue = this.#back.size > 0 ? this.#back : this.#queue;
      const [next] = queue;
      if (next === undefined) return;
      queue.delete(next);
      this.#taken += 1;
      next();
    }
  }
}
