import { InvalidInputError } from '@h/turn';
import { anyString, checkOptions, checkValue, oneOf } from '@h/options';
import { parseAISDK } from './read/ai-sdk.js';
import { parseAnthropic } from './read/anthropic.js';
import { parseClaudeCode } from './read/claude-code.js';
import { parseCodex } from './read/codex.js';
import { isObject, parsedOr } from './json.js';
import { parseOpenAIChat } from './read/openai-chat.js';
import { parsePi } from './read/pi.js';
import type { Transcript, TranscriptFormat } from './transcript.js';

const parsers: Readonly<Record<TranscriptFormat, (text: string) => Transcript>> = {
  'claude-code': parseClaudeCode,
  codex: parseCodex,
  pi: parsePi,
  'openai-chat': parseOpenAIChat,
  'anthropic-messages': parseAnthropic,
  'ai-sdk': parseAISDK,
};

/** The formats that can be read and written. */
export const transcriptFormats: readonly TranscriptFormat[] = Object.keys(parsers) as TranscriptFormat[];

/** Options of {@link parseTranscript}. */
export interface ParseTranscriptOptions {
  /** @defaultValue detected from the text */
  readonly format?: TranscriptFormat | undefined;
}

/**
 * Parses the transcript of another agent into turns.
 *
 * Text, reasoning with its signatures, files, calls and results are preserved; everything else is listed in `notes`. If
 * the conversation branches or was compacted, the result is what its agent would continue with.
 *
 * @throws InvalidInputError if the format cannot be detected or the text does not have it; InvalidOptionError
 *
 * @example
 * ```ts
 * const { turns, notes } = parseTranscript(await readFile(path, 'utf8'));
 * for (const { kind, what, count } of notes) console.log(`${kind}: ${what} (${count})`);
 * ```
 */
export const parseTranscript = (text: string, options: ParseTranscriptOptions = {}): Transcript => {
  checkValue('parseTranscript()', 'text', text, anyString);
  checkOptions('parseTranscript()', options, { format: formatCheck });
  const chosen = options.format ?? detectTranscript(text);
  if (chosen === undefined) {
    throw new InvalidInputError(
      `The format of the transcript cannot be detected; pass one of ${transcriptFormats.join(', ')}.`,
    );
  }
  return withoutOverflow(() => parsers[chosen](text));
};

/** Runs work on JSON of any depth. @throws InvalidInputError if the JSON is too deep for the call stack */
export const withoutOverflow = <Result>(work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InvalidInputError('The transcript is nested too deeply or contains a string that is too long.', {
      cause: error,
    });
  }
};

export const formatCheck = oneOf(...transcriptFormats);

const sampledLines = 50;

/** Detects the format of a transcript; `undefined` if it is unknown. */
export const detectTranscript = (text: string): TranscriptFormat | undefined => {
  const whole = parsedOr(text);
  if (isObject(whole) && isObject(whole['session']) && Array.isArray(whole['items'])) return 'codex';
  const messages = isObject(whole) ? whole['messages'] : whole;
  if (Array.isArray(messages)) return looksOf(messages, isObject(whole) && whole['system'] !== undefined);
  for (const line of text.split('\n', sampledLines)) {
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

/** Types of content parts that only one of the message formats has. */
const chatTypes: readonly unknown[] = ['image_url', 'input_audio', 'refusal'];
const anthropicTypes: readonly unknown[] = ['tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'document'];
const aiSDKTypes: readonly unknown[] = ['tool-call', 'tool-result', 'reasoning'];

/** Distinguishes the message formats, which differ only in calls, results, files and reasoning. */
const looksOf = (messages: readonly unknown[], hasSystem: boolean): TranscriptFormat | undefined => {
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
  if (isChat || parts.some(({ type, file }) => chatTypes.includes(type) || isObject(file))) return 'openai-chat';
  const isAnthropic = parts.some(({ type, source }) => anthropicTypes.includes(type) || isObject(source));
  const isAISDK = parts.some(({ type }) => aiSDKTypes.includes(type));
  return isAnthropic || (hasSystem && !isAISDK) ? 'anthropic-messages' : 'ai-sdk';
};
