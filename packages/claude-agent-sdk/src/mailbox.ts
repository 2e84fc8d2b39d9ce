/** Passes values from the events of a turn to the hooks that wait for them, in order. */
export class Mailbox<Value> {
  readonly #values: Value[] = [];
  readonly #waiting: ((value: Value) => void)[] = [];

  put(value: Value): void {
    const resolve = this.#waiting.shift();
    if (resolve) resolve(value);
    else this.#values.push(value);
  }

  take(): Promise<Value> {
    if (this.#values.length > 0) return Promise.resolve(this.#values.shift() as Value);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
