import {
  MessageList,
  notice,
  toErrorInfo,
  type DecideContext,
  type Message,
  type ModelRequest,
  type NewEvent,
  type OperatorContext,
} from '@h/turn';
import type { CompactionTrigger } from './events.js';
import { CompactionError, type CompactionFailureReason } from './failure.js';
import type { Limits } from './limits.js';
import { afterCompaction, leastSaving } from './notes.js';
import type { ArchivedHistory } from './options.js';
import type { HistoryAnnotation } from './owner.js';
import type { CompactionSettings } from './settings.js';
import { runChain, type ChainResult } from './run-chain.js';
import type { SummarizerContext, SummarizeStrategyContext } from './strategies/summarize.js';
import { withDeadline, type WorkContext } from './summary/deadline.js';
import type { RequestSize, TurnState } from './turn-state.js';

/** A request to compact. */
export interface Job {
  readonly request: ModelRequest;
  readonly trigger: CompactionTrigger;
  readonly size: RequestSize;
  readonly limits: Limits;
  readonly context: DecideContext;
}

/** The outcome. */
export interface Outcome {
  /** The new history; `undefined` if it is unchanged. */
  readonly messages: readonly Message[] | undefined;
  readonly annotation: HistoryAnnotation;
  readonly notices: readonly NewEvent[];
}

/** The target size of a compacted request as a share of its limit, which delays the next compaction. */
const goalShare = 0.6;
const leastTokens = 500;

/** Compacts a request and records how effective that was. */
export const compactRequest = async (
  job: Job,
  settings: CompactionSettings,
  state: TurnState,
  operator: OperatorContext,
): Promise<Outcome> => {
  const { request, trigger, size, limits } = job;
  const startedAt = operator.now();
  operator.emit(
    notice('compaction.started', { trigger, tokens: Math.ceil(size.total), limit: Math.floor(limits.limit) }),
  );
  const bounds = boundsOf(job);
  const context = contextOf(job, bounds.targetTokens, settings, state, operator);
  const result = await runChain(context, settings.chain, bounds);
  const after = sizeAfter(result, job, state);
  const isWorthIt =
    result.worked.length > 0 && (after.total <= size.total * (1 - leastSaving) || fitsNow(size, after, limits));
  state.notes = afterCompaction(state.notes, size.total, isWorthIt ? after.total : size.total, limits);
  const tokensBefore = Math.ceil(size.total);
  const tokensAfter = Math.ceil(isWorthIt ? after.total : size.total);
  const failed = failureNotices(result, trigger, isWorthIt, state.notes.retryAt);
  const done = notice('compaction.done', {
    trigger,
    strategies: result.worked,
    tokensBefore,
    tokensAfter,
    messagesBefore: request.messages.length,
    messagesAfter: result.messages.length,
    durationMs: operator.now() - startedAt,
    ...(result.identifiers && { identifiers: result.identifiers }),
    ...(result.usage && { usage: result.usage }),
    ...(isWorthIt && (await archiveOf(context))),
  });
  return {
    messages: isWorthIt ? result.messages : undefined,
    annotation: { trigger, tokensBefore, tokensAfter },
    notices: isWorthIt ? [...failed, done] : failed,
  };
};

interface Bounds {
  readonly targetTokens: number;
  readonly goalTokens: number;
  readonly maxTokens: number;
}

/** The maximum size of the history. After an overflow the counts are unreliable, so it must shrink in any case. */
const boundsOf = ({ trigger, size, limits }: Job): Bounds => {
  const isForced = trigger === 'overflow' || trigger === 'manual';
  const within = (total: number, share: number): number =>
    Math.max(leastTokens, (isForced ? Math.min(total, size.total * share) : total) - size.overhead);
  return {
    targetTokens: within(limits.limit * goalShare, 0.6),
    goalTokens: within(limits.limit, 0.8),
    maxTokens: within(limits.usable, trigger === 'overflow' ? 0.9 : 1),
  };
};

const contextOf = (
  { request, trigger, limits, context }: Job,
  targetTokens: number,
  settings: CompactionSettings,
  state: TurnState,
  operator: OperatorContext,
): SummarizeStrategyContext => {
  const messages = request.messages.toArray();
  const work = summarizerContextOf(request.model, context.signal, state, operator);
  return {
    ...work,
    messages,
    trigger,
    targetTokens,
    protectTokens: Math.min(limits.protectTokens, targetTokens * 0.7),
    archive: archiver(messages, settings, state, work),
  };
};

/** What the questions to summarizers need. */
export const summarizerContextOf = (
  model: string | undefined,
  signal: AbortSignal,
  state: TurnState,
  operator: OperatorContext,
): SummarizerContext => {
  const estimate = state.counter.gauge(model, 'estimate');
  const factor = state.counter.calibration.factor(model, 'estimate');
  return {
    turn: state.place.turn,
    session: state.place.session,
    signal,
    // Estimates are equal in every process, so that a resumed turn asks the same questions.
    count: (message) => estimate.message(message) * factor,
    countText: estimate.text,
    after: (delayMs, callback) => operator.after(delayMs, callback),
    timeLeft: () => operator.timeLeft(),
    answers: state.answers((event) => operator.emit(event)),
  };
};

/** Archives a history at most once; returns its reference. */
export const archiver = (
  messages: readonly Message[],
  settings: CompactionSettings,
  { place }: TurnState,
  work: WorkContext,
): (() => Promise<string | undefined>) => {
  let archived: Promise<string | undefined> | undefined;
  return () => (archived ??= archiveHistory(settings, { ...place, messages }, work));
};

const archiveHistory = async (
  { archive, timeoutMs }: CompactionSettings,
  history: ArchivedHistory,
  work: WorkContext,
): Promise<string | undefined> => {
  if (archive === undefined) return undefined;
  try {
    return await withDeadline(timeoutMs(0), work, async () => archive(history));
  } catch (error) {
    throw new CompactionError(
      'archive-failed',
      `The full history could not be archived: ${toErrorInfo(error).message}`,
      {
        cause: error,
      },
    );
  }
};

const sizeAfter = (result: ChainResult, { request, size }: Job, state: TurnState): RequestSize =>
  result.worked.length === 0 ? size : measured({ ...request, messages: MessageList.of(result.messages) }, state);

/** Counts the final request in both ways, because the provider's usage will refer to it. */
const measured = (request: ModelRequest, state: TurnState): RequestSize => {
  state.measure(request, 'estimate');
  return state.measure(request, 'best');
};

const fitsNow = (before: RequestSize, after: RequestSize, { usable }: Limits): boolean =>
  before.total > usable && after.total <= usable;

const archiveOf = async ({ archive }: SummarizeStrategyContext): Promise<{ readonly archive?: string }> => {
  const place = await archive();
  return place === undefined ? {} : { archive: place };
};

const failureNotices = (
  { failures, worked }: ChainResult,
  trigger: CompactionTrigger,
  isWorthIt: boolean,
  retryAt: number,
): readonly NewEvent[] => {
  const retry = retryAt > 0 ? { retryAtTokens: Math.ceil(retryAt) } : {};
  const notices: NewEvent[] = failures.map((failure) =>
    notice('compaction.failed', { trigger, ...failure, ...(!isWorthIt && retry) }),
  );
  if (isWorthIt || worked.length === 0) return notices;
  const reason: CompactionFailureReason = 'ineffective';
  return [
    ...notices,
    notice('compaction.failed', {
      trigger,
      reason,
      message: 'Less than 5 % of the tokens would have been saved.',
      ...retry,
    }),
  ];
};
