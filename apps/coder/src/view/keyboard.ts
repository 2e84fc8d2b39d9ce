import { PassThrough, type Readable } from 'node:stream';

/** The parts of a terminal that a prompt reads from. */
export type TerminalInput = Readable & { setRawMode(isRaw: boolean): unknown };

/** The keys of a terminal for one prompt. */
export interface Keyboard {
  readonly keys: Readable;
  /** Stops reading from the terminal. */
  release(): void;
}

/**
 * Reads the keys of a terminal for a prompt. A closed terminal is reported to `onClosed` instead of to the prompt as
 * an error: the readline of Node.js passes errors of its input to an interface without a listener, which ends the process.
 */
export const openKeyboard = (terminal: TerminalInput, onClosed: () => void): Keyboard => {
  const isClosed = (): boolean => terminal.readableEnded || terminal.destroyed;
  const setRawMode = (isRaw: boolean): void => {
    if (!isClosed()) terminal.setRawMode(isRaw);
  };
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  const read = (chunk: unknown): void => void keys.write(chunk);
  const closed = ['end', 'close', 'error'] as const;
  terminal.on('data', read);
  for (const event of closed) terminal.once(event, onClosed);
  terminal.resume();
  return {
    keys,
    release: () => {
      terminal.off('data', read);
      for (const event of closed) terminal.off(event, onClosed);
      terminal.pause();
    },
  };
};
