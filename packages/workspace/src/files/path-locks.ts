/** Serializes tasks on the same path; tasks on other paths run concurrently. */
export class PathLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs a task after all earlier tasks on this path have ended or failed. */
  async run<Result>(path: string, task: () => Promise<Result>): Promise<Result> {
    const earlier = this.#tails.get(path);
    let release = (): void => undefined;
    const tail = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#tails.set(path, tail);
    try {
      await earlier;
      return await task();
    } finally {
      release();
      if (this.#tails.get(path) === tail) this.#tails.delete(path);
    }
  }
}
