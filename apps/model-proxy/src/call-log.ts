import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';

/** Memory for lines that the disk has not accepted; further lines are dropped. */
const maxPendingBytes = 16_000_000;

/** Writes one JSON line per model call to a file or to standard error. */
export class CallLog {
  readonly #stream: WriteStream | NodeJS.WriteStream | undefined;

  /** @param target - a file, `-` for standard error, or `undefined` for no log */
  constructor(target: string | undefined) {
    if (target === undefined) return;
    if (target === '-') {
      this.#stream = process.stderr;
      return;
    }
    this.#stream = createWriteStream(target, { flags: 'a', mode: 0o600 });
    // A full disk must not end the proxy.
    this.#stream.on('error', (error: Error) => {
      process.emitWarning(`The log ${target} cannot be written: ${error.message}`, { code: 'log-failed' });
    });
  }

  write(line: object): void {
    const stream = this.#stream;
    if (stream === undefined || stream.destroyed || stream.writableLength > maxPendingBytes) return;
    stream.write(`${JSON.stringify(line)}\n`);
  }

  async close(): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined || stream === process.stderr || stream.destroyed) return;
    stream.end();
    await once(stream, 'close').catch(() => undefined);
  }
}
