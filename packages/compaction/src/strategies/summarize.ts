import { addUsage, noUsage, type ErrorInfo, type Message, type ToolCallPart, type Usage } from '@h/turn';
import { tailStartOf } from '../cutting/split-history.js';
import { CompactionError } from '../failure.js';
import { atMost, type Limit } from '../concurrency.js';
import type { Report, ReportOptions } from '../last-resort.js';
import type { CompactedHistory, CompactionContext } from '../strategy.js';
import { firstUserRequest } from '../summary/user-requests.js';
import { withDeadline, type After } from '../summary/deadline.js';
import { ledgerSection, summaryEntryOf, summaryMessage, type SummaryEntry } from '../summary/entry.js';
import { touchedFiles, type TouchedFiles } from '../summary/files.js';
import { modelSwitchNote } from '../summary/instructions.js';
import { createInterview, type Answers, type Interview, type InterviewOptions } from '../summary/interview.js';
import { proveSummary, type ProvenSummary } from '../summary/prove.js';
import type { RankedIdentifier } from '../summary/identifiers.js';
import { rankIdentifiers } from '../summary/rank-identifiers.js';
import type { Summarize } from '../summary/summarize.js';
import { writeSummary } from '../summary/write-summary.js';
import { openUserRequestsBefore, pinnedPlaces, protectedTraffic } from './kept.js';

/** Options of the strategy `summarize`. */
export interface SummarizeSettings {
  /** Summarizers; the next one is used if the one before it fails. */
  readonly summarizers: readonly Summarize[];
  readonly summarizerWindow: number;
  readonly maxSummaryTokens: number;
  readonly maxAttempts: number;
  readonly maxCorrections: number;
  readonly timeoutMs: (tokens: number) => number;
  readonly limit: Limit | undefined;
  readonly redact: (text: string) => string;
  readonly protectedTools: readonly string[];
  readonly filesOf: (call: ToolCallPart) => TouchedFiles;
  readonly isOverflow: (error: ErrorInfo) => boolean;
}

/** What every question to a summarizer needs. */
export interface SummarizerContext extends Pick<CompactionContext, 'turn' | 'session' | 'signal' | 'count'> {
  readonly after: After;
  /** The time that is left until the deadline of the turn, in milliseconds. */
  readonly timeLeft?: (() => number) | undefined;
  readonly answers: Answers;
  readonly countText: (text: string) => number;
}

/** What the strategy needs besides the context of every strategy. */
export type SummarizeStrategyContext = CompactionContext & SummarizerContext;

/** The messages to summarize, and those that stay around them. */
interface Plan {
  readonly system: readonly Message[];
  readonly earlier: readonly SummaryEntry[];
  readonly head: readonly Message[];
  readonly kept: readonly Message[];
  readonly tail: readonly Message[];
}

/** Replaces all but the protected messages with a verified summary. @throws CompactionError */
export const summarizeHistory = async (
  context: SummarizeStrategyContext,
  settings: SummarizeSettings,
): Promise<CompactedHistory> => {
  const plan = planOf(context, settings);
  const summarized = [...plan.earlier.map(({ message }) => message), ...plan.head];
  const identifiers = rankIdentifiers(summarized, settings.redact);
  const archive = await context.archive();
  const compose = composerOf(plan, archive, context, settings);
  const { proven, usage } = await askAndProve(plan, context, settings, {
    identifiers,
    compose: (body, ledger, dropped) => compose(body, ledger, dropped).content as string,
    maxTokens: Math.min(settings.maxSummaryTokens, lengthFor(context.targetTokens)),
    ledgerTokens: Math.min(6_000, context.targetTokens * 0.15),
    ...(context.trigger === 'model-switch' && { note: modelSwitchNote }),
  });
  const message = compose(proven.body, proven.ledger, proven.report.dropped);
  if (context.count(message) >= summarized.reduce((tokens, given) => tokens + context.count(given), 0)) {
    throw new CompactionError(
      'inflated',
      'The summary with its identifiers is not shorter than the messages that it summarizes.',
    );
  }
  return { messages: [...plan.system, message, ...plan.kept, ...plan.tail], identifiers: proven.report, usage };
};

/** The maximum length of the first request in a summary, in characters: a quarter of the tokens of the history. */
const maxFirstRequestChars = 16_000;
const firstRequestShare = 0.75;

/**
 * A summary gets a quarter of the history's size, in coarse steps, so that a resumed turn asks exactly the same
 * questions.
 */
const lengthFor = (targetTokens: number): number => {
  let tokens = 250;
  while (tokens * 2 <= targetTokens / 4) tokens *= 2;
  return tokens;
};

const planOf = (
  { messages, protectTokens, targetTokens, count }: SummarizeStrategyContext,
  { protectedTools }: SummarizeSettings,
): Plan => {
  const tailStart = tailStartOf(messages, protectTokens, count);
  const requests = openUserRequestsBefore(messages, tailStart, targetTokens / 3, count);
  const system = pinnedPlaces(messages).filter((place) => place < tailStart && messages[place]?.role === 'system');
  const earlier = messages.slice(0, tailStart).flatMap((message) => summaryEntryOf(message) ?? []);
  const head = messages
    .slice(0, tailStart)
    .filter((message, place) => !requests.has(place) && !system.includes(place) && !summaryEntryOf(message));
  if (head.length === 0) {
    throw new CompactionError('nothing-to-compact', 'All messages are protected or were summarized before.');
  }
  const traffic = protectedTraffic(messages, tailStart, protectedTools, targetTokens / 4, count);
  return {
    system: system.map((place) => messages[place] as Message),
    earlier,
    head,
    kept: [...requests.values(), ...traffic],
    tail: messages.slice(tailStart),
  };
};

type Compose = (
  body: string,
  ledger: readonly RankedIdentifier[],
  dropped: number,
) => ReturnType<typeof summaryMessage>;

const composerOf = (
  { earlier, head }: Plan,
  archive: string | undefined,
  { messages, trigger, targetTokens }: SummarizeStrategyContext,
  { redact, filesOf }: SummarizeSettings,
): Compose => {
  const firstRequest =
    earlier.find((entry) => entry.firstRequest !== undefined)?.firstRequest ?? firstUserRequest(messages);
  const before = {
    read: earlier.flatMap(({ files }) => files.read),
    modified: earlier.flatMap(({ files }) => files.modified),
  };
  const files = touchedFiles(head, before, filesOf);
  const maxRequestChars = Math.min(maxFirstRequestChars, Math.floor(targetTokens * firstRequestShare));
  return (body, ledger, dropped) =>
    summaryMessage({
      firstRequest: firstRequest === undefined ? undefined : redact(firstRequest),
      maxRequestChars,
      body,
      ledger,
      dropped,
      files,
      archive,
      isForNewModel: trigger === 'model-switch',
    });
};

/** The text to be written. */
interface Assignment extends Pick<InterviewOptions, 'note' | 'mayGrow'> {
  /** The identifiers that the text must contain. */
  readonly identifiers: readonly RankedIdentifier[];
  /** The text that is stored. */
  readonly compose: (body: string, ledger: readonly RankedIdentifier[], dropped: number) => string;
  readonly maxTokens: number;
  readonly ledgerTokens: number;
}

/**
 * Has a text written and proves its identifiers. If only the correction times out, missing identifiers are appended
 * instead.
 */
const askAndProve = async (
  { earlier, head }: Pick<Plan, 'earlier' | 'head'>,
  context: SummarizerContext,
  settings: SummarizeSettings,
  { identifiers, compose, maxTokens, ledgerTokens, note, mayGrow }: Assignment,
): Promise<{ readonly proven: ProvenSummary; readonly usage: Usage | undefined }> => {
  let usage: Usage | undefined;
  const onUsage = (more: Usage): void => {
    usage = addUsage(usage ?? noUsage, more);
  };
  const { maxCorrections, limit = atMost(2) } = settings;
  const { countText } = context;
  const timeoutMs = settings.timeoutMs(head.reduce((tokens, message) => tokens + context.count(message), 0));
  const earlierBody = earlier.length === 0 ? undefined : earlier.map(({ body }) => body).join('\n\n');
  const proven = await firstThatWorks(settings.summarizers, context.signal, async (summarize) => {
    const interviewFor = (signal: AbortSignal): Interview =>
      createInterview({
        ...settings,
        ...context,
        summarize,
        signal,
        onUsage,
        limit,
        maxOutputTokens: maxTokens,
        note,
        mayGrow,
      });
    const written = await withDeadline(timeoutMs, context, (signal) =>
      writeSummary(head, { ...settings, interview: interviewFor(signal), earlier: earlierBody, countText }),
    );
    const prove = (corrections: number, signal: AbortSignal): Promise<ProvenSummary> =>
      proveSummary(written, identifiers, {
        interview: interviewFor(signal),
        maxCorrections: corrections,
        ledgerTokens,
        countText,
        compose,
      });
    try {
      return await withDeadline(timeoutMs, context, (signal) => prove(maxCorrections, signal));
    } catch (error) {
      if (error instanceof CompactionError && error.reason === 'timed-out') return prove(0, context.signal);
      throw error;
    }
  });
  return { proven, usage };
};

/** Writes a report on messages for the last strategy. @throws CompactionError */
export const reportOn = async (
  messages: readonly Message[],
  { purpose, maxTokens }: ReportOptions,
  context: SummarizerContext,
  settings: SummarizeSettings,
): Promise<Report> => {
  const compose = (body: string, ledger: readonly RankedIdentifier[], dropped: number): string =>
    [body, ...ledgerSection({ ledger, dropped })].join('\n\n');
  const { proven, usage = noUsage } = await askAndProve({ earlier: [], head: messages }, context, settings, {
    identifiers: rankIdentifiers(messages, settings.redact),
    compose,
    maxTokens,
    ledgerTokens: maxTokens,
    note: purpose,
    mayGrow: true,
  });
  const { body, ledger, report } = proven;
  return { text: compose(body, ledger, report.dropped), identifiers: report, usage };
};

/** Tries the summarizers in order. */
const firstThatWorks = async <Result>(
  summarizers: readonly Summarize[],
  signal: AbortSignal,
  work: (summarize: Summarize) => Promise<Result>,
): Promise<Result> => {
  const [first, ...others] = summarizers;
  if (first === undefined) throw new CompactionError('summarizer-failed', 'No summarizer is configured.');
  try {
    return await work(first);
  } catch (error) {
    if (signal.aborted || others.length === 0) throw error;
    return firstThatWorks(others, signal, work);
  }
};
