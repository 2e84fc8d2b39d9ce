import type { Message } from '@h/turn';
import { nonEmptyString, checkOptions, numberFrom, required, type OptionChecks } from '@h/options';
import { toAISDK } from './read/ai-sdk.js';
import { toAnthropic } from './read/anthropic.js';
import type { FormatContext } from './format-options.js';
import { formatCheck, withoutOverflow } from './parse-transcript.js';
import { toClaudeCode } from './write/to-claude-code.js';
import { toCodex } from './write/to-codex.js';
import { toOpenAIChat } from './write/to-openai-chat.js';
import { toPi } from './write/to-pi.js';
import type { FormattedTranscript, TranscriptFormat } from './transcript.js';

const writers: Readonly<
  Record<TranscriptFormat, (messages: readonly Message[], context: FormatContext) => FormattedTranscript>
> = {
  'claude-code': toClaudeCode,
  codex: toCodex,
  pi: toPi,
  'openai-chat': toOpenAIChat,
  'anthropic-messages': toAnthropic,
  'ai-sdk': toAISDK,
};

/** Options of {@link formatTranscript}. */
export interface FormatTranscriptOptions {
  /** The format to write. */
  readonly format: TranscriptFormat;
  /**
   * The id of the session, for formats that have one.
   *
   * @defaultValue `'session'`
   */
  readonly session?: string | undefined;
  /**
   * The working directory of the agent, for formats that contain it.
   *
   * @defaultValue `'/'`
   */
  readonly cwd?: string | undefined;
  /**
   * The time of the session in milliseconds since 1970, for formats that contain it.
   *
   * @defaultValue `0`
   */
  readonly at?: number | undefined;
}

/** The maximum of Date. */
const maxTime = 8.64e15;

const checks: OptionChecks<FormatTranscriptOptions> = {
  format: required(formatCheck),
  session: nonEmptyString,
  cwd: nonEmptyString,
  at: numberFrom(0, maxTime),
};

/**
 * Formats a conversation for another agent. The same conversation gives the same text.
 *
 * @throws InvalidOptionError; InvalidInputError if a message is nested too deeply
 *
 * @example
 * ```ts
 * const { text, notes } = formatTranscript(await sessions.messages('alice'), { format: 'openai-chat' });
 * ```
 */
export const formatTranscript = (
  messages: readonly Message[],
  options: FormatTranscriptOptions,
): FormattedTranscript => {
  checkOptions('formatTranscript()', options, checks);
  const { format, session = 'session', cwd = '/', at = 0 } = options;
  return withoutOverflow(() => writers[format](messages, { session, cwd, at }));
};
