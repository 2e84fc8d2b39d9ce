/** Lets one task at a time work on a path; work on other paths continues. */
export class PathLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs a task once all earlier ones on this path have ended, however they ended. */
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
