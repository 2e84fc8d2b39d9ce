import { repairHistory, toErrorInfo, type ErrorInfo, type Message } from '@h/turn';
import { CompactionError, toFailure, type CompactionFailureReason } from './failure.js';
import { shortenResults } from './strategies/shorten-results.js';
import type { SummarizeStrategyContext } from './strategies/summarize.js';
import type { CompactedHistory, NamedStrategy } from './strategy.js';

/** A strategy that failed. */
export interface StrategyFailure {
  readonly strategy: string;
  readonly reason: CompactionFailureReason;
  readonly message: string;
  readonly error?: ErrorInfo | undefined;
}

/** The result of the strategies. */
export interface ChainResult extends CompactedHistory {
  /** The strategies that succeeded, in order; empty if the history is unchanged. */
  readonly worked: readonly string[];
  readonly failures: readonly StrategyFailure[];
}

/** When the strategies stop. */
export interface ChainBounds {
  /** Below this many tokens no further strategy is tried. */
  readonly goalTokens: number;
  /** The maximum size of the history. */
  readonly maxTokens: number;
}

/**
 * Tries strategies in order, each on the result of those before it, until the history is small enough.
 *
 * A result that is not smaller, or that separates a call from its result, is rejected. If the protected messages alone
 * are too long, tool results in them are shortened. Nothing is removed before the full history is archived, if
 * `archive` is set.
 */
export const runChain = async (
  context: SummarizeStrategyContext,
  chain: readonly NamedStrategy[],
  { goalTokens, maxTokens }: ChainBounds,
): Promise<ChainResult> => {
  const tokensOf = (messages: readonly Message[]): number =>
    messages.reduce((tokens, message) => tokens + context.count(message), 0);
  const failures: StrategyFailure[] = [];
  let result: ChainResult = { messages: context.messages, worked: [], failures };
  for (const [place, strategy] of chain.entries()) {
    const tokens = tokensOf(result.messages);
    if (result.worked.length > 0 && tokens <= goalTokens) break;
    if (place > 0 && strategy.isLossy && tokens <= maxTokens) continue;
    try {
      const compacted = await applied(strategy, { ...context, messages: result.messages }, tokensOf);
      result = { ...result, ...compacted, worked: [...result.worked, strategy.name] };
    } catch (error) {
      if (context.signal.aborted) throw error;
      failures.push(failureOf(strategy.name, error));
    }
  }
  const isAllProtected = failures.every(({ reason }) => reason === 'nothing-to-compact');
  if (tokensOf(result.messages) > maxTokens && (result.worked.length > 0 || isAllProtected)) {
    const messages = shortenResults(result.messages, maxTokens, context.count);
    if (messages !== result.messages) result = { ...result, messages, worked: [...result.worked, 'shorten-results'] };
  }
  return archived(result, context);
};

const applied = async (
  { name, run }: NamedStrategy,
  context: SummarizeStrategyContext,
  tokensOf: (messages: readonly Message[]) => number,
): Promise<CompactedHistory> => {
  const given = await run(context);
  if (given === undefined) {
    throw new CompactionError('nothing-to-compact', `The strategy ${name} found nothing to remove.`);
  }
  const compacted = 'messages' in given ? given : { messages: given };
  if (tokensOf(compacted.messages) >= tokensOf(context.messages)) {
    throw new CompactionError('inflated', `The strategy ${name} returned a history that is not smaller.`);
  }
  if (repairHistory(compacted.messages).repairs.length > repairHistory(context.messages).repairs.length) {
    throw new CompactionError(
      'invalid-result',
      `The strategy ${name} returned calls without results, or results without calls.`,
    );
  }
  return compacted;
};

const archived = async (result: ChainResult, context: SummarizeStrategyContext): Promise<ChainResult> => {
  if (result.worked.length === 0) return result;
  try {
    await context.archive();
    return result;
  } catch (error) {
    const failures = [...result.failures, failureOf('archive', error)];
    return { messages: context.messages, worked: [], failures };
  }
};

const failureOf = (strategy: string, thrown: unknown): StrategyFailure => {
  const { reason, message, cause } = toFailure(thrown, 'strategy-failed', `The strategy ${strategy} failed`);
  return { strategy, reason, message, ...(cause !== undefined && { error: toErrorInfo(cause) }) };
};
