import { text } from 'node:stream/consumers';
import type { ReadStream } from 'node:tty';
import type { Display } from './streams.js';
import { UsageError } from './usage-error.js';

/**
 * What to do: from the command line, or from standard input where it says `-`; `undefined` for a conversation.
 *
 * @throws UsageError where there is neither a prompt nor a terminal to talk on
 */
export const readPrompt = async (
  given: string | undefined,
  stdin: ReadStream,
  { terminal }: Display,
): Promise<string | undefined> => {
  if (given === '-') {
    const read = (await text(stdin)).trim();
    if (read === '') throw new UsageError('The prompt was to be read from standard input, and nothing came.');
    return read;
  }
  if (given === undefined && terminal?.questions === undefined) {
    throw new UsageError(
      'Say what to do: give a prompt, or "-" to read it from standard input. A conversation needs a terminal.',
    );
  }
  return given;
};
