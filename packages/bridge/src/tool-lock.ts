/** Runs read-only tools together and every other tool alone, in the order of their requests. */
export class ToolLock {
  #readers = 0;
  #isWriting = false;
  readonly #waiting: { readonly isReader: boolean; readonly begin: () => void }[] = [];

  /** Runs a tool when it is its turn. */
  async run<Result>(isReader: boolean, tool: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.length > 0 || !this.#isFree(isReader)) {
      await new Promise<void>((resolve) => {
        this.#waiting.push({ isReader, begin: resolve });
      });
    } else {
      this.#begin(isReader);
    }
    try {
      return await tool();
    } finally {
      if (isReader) this.#readers -= 1;
      else this.#isWriting = false;
      this.#admit();
    }
  }

  #isFree(isReader: boolean): boolean {
    return !this.#isWriting && (isReader || this.#readers === 0);
  }

  #begin(isReader: boolean): void {
    if (isReader) this.#readers += 1;
    else this.#isWriting = true;
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#isFree(next.isReader); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#begin(next.isReader);
      next.begin();
    }
  }
}
