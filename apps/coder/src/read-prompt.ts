import { text } from 'node:stream/consumers';
import type { ReadStream } from 'node:tty';
import type { Display } from './streams.js';
import { UsageError } from './usage-error.js';

/**
 * Returns the prompt, read from standard input if it is `-`; `undefined` for a conversation.
 *
 * @throws UsageError without a prompt and a terminal
 */
export const readPrompt = async (
  given: string | undefined,
  stdin: ReadStream,
  { terminal }: Display,
): Promise<string | undefined> => {
  if (given === '-') {
    const read = (await text(stdin)).trim();
    if (read === '') throw new UsageError('The prompt "-" reads standard input, but standard input is empty.');
    return read;
  }
  if (given === undefined && terminal?.questions === undefined) {
    throw new UsageError('A conversation requires a terminal. Pass a prompt, or "-" to read it from standard input.');
  }
  return given;
};
