/** A cancelled tool that ignores its signal blocks the others no longer than this. */
const cancelledGraceMs = 5_000;

/** Runs read-only tools together and every other tool alone, in the order of their requests. */
export class ToolLock {
  #readers = 0;
  #isWriting = false;
  readonly #waiting: { readonly isReader: boolean; readonly begin: () => void }[] = [];

  /**
   * Runs a tool when it is its turn.
   *
   * @param signal - cancels the tool
   */
  async run<Result>(isReader: boolean, tool: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (this.#waiting.length > 0 || !this.#isFree(isReader)) {
      await new Promise<void>((resolve) => {
        this.#waiting.push({ isReader, begin: resolve });
      });
    } else {
      this.#begin(isReader);
    }
    let isHeld = true;
    const release = (): void => {
      if (isHeld) this.#release(isReader);
      isHeld = false;
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = (): void => {
      timer = setTimeout(release, cancelledGraceMs);
    };
    signal?.addEventListener('abort', limit, { once: true });
    try {
      return await tool();
    } finally {
      signal?.removeEventListener('abort', limit);
      clearTimeout(timer);
      release();
    }
  }

  #release(isReader: boolean): void {
    if (isReader) this.#readers -= 1;
    else this.#isWriting = false;
    this.#admit();
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
