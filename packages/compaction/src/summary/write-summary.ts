import { cutMiddle } from '@h/bounded';
import type { Message } from '@h/turn';
import { chunkTokensFor, splitHistory } from '../cutting/split-history.js';
import { CompactionError } from '../failure.js';
import { delimited } from './delimited.js';
import type { Interview } from './interview.js';
import { transcriptOf } from './transcript.js';

/** The input of {@link writeSummary}. */
export interface WriteSummaryOptions {
  readonly interview: Interview;
  /** The earlier summary, which the new one merges. */
  readonly earlier: string | undefined;
  readonly summarizerWindow: number;
  /** Redacts the input of the summarizer. */
  readonly redact: (text: string) => string;
  readonly countText: (text: string) => number;
}

/** How often a text that is too long for the summarizer is halved. */
const maxHalvings = 4;
/** The approximate minimum of characters per token of ordinary text. */
const charsPerToken = 3;

/**
 * Summarizes messages: at once if they fit the summarizer, else in concurrent chunks whose summaries are merged under
 * the same instructions.
 *
 * @throws CompactionError
 */
export const writeSummary = async (messages: readonly Message[], options: WriteSummaryOptions): Promise<string> => {
  const chunkTokens = chunkTokensFor(options.summarizerWindow);
  const texts = new Map(
    messages.map((message) => [
      message,
      cutMiddle(transcriptOf(message, options.redact), (chunkTokens / 2) * charsPerToken),
    ]),
  );
  const textOf = (message: Message): string => texts.get(message) ?? '';
  const { chunks } = splitHistory(messages, { chunkTokens, count: (message) => options.countText(textOf(message)) });
  const parts = await Promise.all(
    chunks.map((chunk, index) =>
      summarizePart(chunk.messages.map(textOf), index === 0 ? options.earlier : undefined, options, 0),
    ),
  );
  return mergeParts(parts.flat(), options);
};

/** Summarizes a chunk; in halves if it is too long after all. */
const summarizePart = async (
  texts: readonly string[],
  earlier: string | undefined,
  options: WriteSummaryOptions,
  halvings: number,
): Promise<readonly string[]> => {
  const report = earlier === undefined ? '' : delimited('report on what came before', earlier);
  try {
    return [await options.interview.ask('summarize', `${report}${delimited('transcript', texts.join('\n'))}`)];
  } catch (error) {
    if (!isOverflow(error) || halvings >= maxHalvings) throw error;
  }
  const middle = Math.ceil(texts.length / 2);
  const [single = ''] = texts;
  if (texts.length === 1) {
    return summarizePart([cutMiddle(single, Math.floor(single.length / 2))], earlier, options, halvings + 1);
  }
  const [first, second] = await Promise.all([
    summarizePart(texts.slice(0, middle), earlier, options, halvings + 1),
    summarizePart(texts.slice(middle), undefined, options, halvings + 1),
  ]);
  return [...first, ...second];
};

/** Merges reports; as many at a time as the summarizer can read, and at least two. */
const mergeParts = async (parts: readonly string[], options: WriteSummaryOptions): Promise<string> => {
  const [first = ''] = parts;
  if (parts.length === 1) return first;
  const batches = batchesOf(parts, chunkTokensFor(options.summarizerWindow), options.countText);
  const merged = await Promise.all(
    batches.map(async (batch, index) => {
      const [only = ''] = batch;
      if (batch.length === 1) return only;
      const from = batches.slice(0, index).flat().length;
      return options.interview.ask(
        'merge',
        batch.map((text, place) => delimited(`report ${from + place + 1} of ${parts.length}`, text)).join('\n'),
      );
    }),
  );
  return mergeParts(merged, options);
};

const batchesOf = (
  parts: readonly string[],
  maxTokens: number,
  countText: (text: string) => number,
): readonly (readonly string[])[] => {
  const batches: string[][] = [];
  let left = 0;
  for (const part of parts) {
    const tokens = countText(part);
    const last = batches.at(-1);
    if (last && (tokens <= left || last.length < 2)) {
      last.push(part);
      left -= tokens;
    } else {
      batches.push([part]);
      left = maxTokens - tokens;
    }
  }
  return batches;
};

const isOverflow = (error: unknown): boolean => error instanceof CompactionError && error.reason === 'overflow';
