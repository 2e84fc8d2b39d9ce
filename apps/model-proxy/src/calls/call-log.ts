import { rotatingLines, type RotatingLines } from '@h/observe/lines';
import type { LogConfig } from '../config.js';

/** Memory for lines that standard error has not accepted; further lines are dropped. */
const maxPendingBytes = 16_000_000;

/** Writes one JSON line per model call to a file, which rotates by size, or to standard error. */
export class CallLog {
  readonly #file: RotatingLines | undefined;
  readonly #toStandardError: boolean;

  constructor(config: LogConfig | undefined) {
    const { file, maxBytes, maxFiles } = config ?? {};
    this.#toStandardError = file === '-';
    if (file === undefined || file === '-') return;
    // Written at once, so that the line of a call survives `kill -9`. A full disk costs lines and does not end the proxy.
    this.#file = rotatingLines(file, {
      maxBytes,
      maxFiles,
      onError: (error) => {
        const reason = error instanceof Error ? error.message : String(error);
        process.emitWarning(`The log ${file} cannot be written: ${reason}`, { code: 'log-failed' });
      },
    });
  }

  /** @param line - creates the line, unless nothing is logged */
  write(line: () => object): void {
    if (this.#file) return this.#file.write(JSON.stringify(line()));
    if (!this.#toStandardError || process.stderr.writableLength > maxPendingBytes) return;
    process.stderr.write(`${JSON.stringify(line())}\n`);
  }

  close(): void {
    this.#file?.close();
  }
}
