import { InvalidInputError } from '@h/turn';
import { anyString, checkOptions, checkValue, oneOf } from '@h/options';
import { parseAISDK } from './ai-sdk.js';
import { parseClaudeCode } from './claude-code.js';
import { parseCodex } from './codex.js';
import { isObject, parsedOr } from './json.js';
import { parseOpenAIChat } from './openai-chat.js';
import { parsePi } from './pi.js';
import type { Transcript, TranscriptFormat } from './transcript.js';

const parsers: Readonly<Record<TranscriptFormat, (text: string) => Transcript>> = {
  'claude-code': parseClaudeCode,
  codex: parseCodex,
  pi: parsePi,
  'openai-chat': parseOpenAIChat,
  'ai-sdk': parseAISDK,
};

/** The formats that can be read and written. */
export const transcriptFormats: readonly TranscriptFormat[] = Object.keys(parsers) as TranscriptFormat[];

/** Options of {@link parseTranscript}. */
export interface ParseTranscriptOptions {
  /** @defaultValue what the transcript looks like */
  readonly format?: TranscriptFormat | undefined;
}

/**
 * Reads another agent's transcript as turns.
 *
 * What the formats share comes through as it is: texts, reasoning with its signatures, files, calls and their results.
 * All else is told in `notes`. Where a conversation branches or was compacted, it is what its agent would go on with.
 *
 * @throws InvalidInputError when the format cannot be told, or nothing in the text is of it; InvalidOptionError
 *
 * @example
 * ```ts
 * const { turns, notes } = parseTranscript(await readFile(path, 'utf8'));
 * for (const { kind, what, count } of notes) console.log(`${kind}: ${what} (${count})`);
 * ```
 */
export const parseTranscript = (text: string, options: ParseTranscriptOptions = {}): Transcript => {
  checkValue('parseTranscript()', 'text', text, anyString);
  checkOptions('parseTranscript()', options, { format: aFormat });
  const chosen = options.format ?? detectTranscript(text);
  if (chosen === undefined) {
    throw new InvalidInputError(
      `The format of the transcript cannot be told; give one of ${transcriptFormats.join(', ')}.`,
    );
  }
  return withoutOverflow(() => parsers[chosen](text));
};

/** Does something to JSON of any depth. @throws InvalidInputError where it is deeper than a call stack */
export const withoutOverflow = <Result>(work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InvalidInputError('The transcript is nested too deeply, or holds a text that is too long.', {
      cause: error,
    });
  }
};

export const aFormat = oneOf(...transcriptFormats);

const lookedAt = 50;

/** What a transcript looks like; `undefined` when it looks like none that is known. */
export const detectTranscript = (text: string): TranscriptFormat | undefined => {
  const whole = parsedOr(text);
  if (isObject(whole) && isObject(whole['session']) && Array.isArray(whole['items'])) return 'codex';
  const messages = isObject(whole) ? whole['messages'] : whole;
  if (Array.isArray(messages)) return looksOf(messages);
  for (const line of text.split('\n', lookedAt)) {
    const entry = parsedOr(line);
    if (!isObject(entry)) continue;
    if (isObject(entry['payload']) && typeof entry['type'] === 'string') return 'codex';
    if (entry['type'] === 'session' && typeof entry['id'] === 'string') return 'pi';
    if (typeof entry['sessionId'] === 'string' || (entry['type'] === 'summary' && 'leafUuid' in entry)) {
      return 'claude-code';
    }
    if (typeof entry['id'] === 'string' && 'instructions' in entry && typeof entry['timestamp'] === 'string') {
      return 'codex';
    }
    if (typeof entry['role'] === 'string') return 'openai-chat';
  }
  return undefined;
};

/** The two lists of messages differ in calls, results and files; without any of them they are the same. */
const looksOf = (messages: readonly unknown[]): TranscriptFormat | undefined => {
  const known = messages.filter(isObject).filter(({ role }) => typeof role === 'string');
  if (known.length === 0) return undefined;
  const parts = known.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isObject) : []));
  const isChat = known.some(
    (message) =>
      'tool_calls' in message ||
      'tool_call_id' in message ||
      message['role'] === 'developer' ||
      message['content'] === null,
  );
  const hasChatParts = parts.some(
    ({ type, file }) => ['image_url', 'input_audio', 'refusal'].some((kind) => kind === type) || isObject(file),
  );
  return isChat || hasChatParts ? 'openai-chat' : 'ai-sdk';
};
