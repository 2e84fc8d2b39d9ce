import {
  harness,
  memorySessions,
  repairHistory,
  TurnError,
  type Message,
  type TurnEvent,
  type TurnEventOf,
} from '@h/turn';
import { compaction } from './compaction.js';
import type { CompactionOptions } from './options.js';

/** Options of {@link compact}: those of `compaction()` that concern one history. */
export interface CompactOptions extends Omit<CompactionOptions, 'memory' | 'lastResort' | 'threshold' | 'isOverflow'> {
  /** Cancels the summarizers; the call then rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a history. */
export interface CompactedMessages {
  /** The compacted history; the given one if no strategy made it smaller. */
  readonly messages: readonly Message[];
  /** The result of the compaction; `undefined` if the history is unchanged. */
  readonly done: Omit<TurnEventOf<'compaction.done'>, keyof TurnEvent> | undefined;
  /** The strategies that failed, and why. */
  readonly failures: readonly Omit<TurnEventOf<'compaction.failed'>, keyof TurnEvent>[];
}

/** The name of the only session of a call. */
const session = 'compact';

/**
 * Compacts a history now, without an agent: for loops that are not run by a harness.
 *
 * The history is repaired first. A compaction that fails leaves it unchanged and is reported in `failures`. For the
 * messages of another framework use `convertHistory(format, compact)` of `@h/bridge`.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 * @throws InvalidInputError if a message is one of another framework
 *
 * @example
 * ```ts
 * declare const history: readonly Message[];
 * const { messages } = await compact(history, { window: 32_000, strategy: 'clear-tool-results' });
 * ```
 */
export const compact = async (
  history: Iterable<Message>,
  { signal, ...options }: CompactOptions = {},
): Promise<CompactedMessages> => {
  const operator = compaction(options);
  const { messages } = repairHistory(history);
  const sessions = memorySessions({ [session]: messages });
  const agent = harness({ model: noModel, sessions }).pipe(operator);
  const failures: CompactedMessages['failures'][number][] = [];
  let done: CompactedMessages['done'];
  let end: TurnEventOf<'turn.end'> | undefined;
  await agent
    .turn({ session, input: 'Compact.', metadata: { compaction: 'now' }, ...(signal && { signal }) })
    .forEach((event) => {
      if (event.type === 'compaction.done') done = event;
      if (event.type === 'compaction.failed') failures.push(event);
      if (event.type === 'turn.end') end = event;
    });
  signal?.throwIfAborted();
  if (end?.error) throw new TurnError(end.error.code ?? 'compaction-failed', end.error.message);
  return { messages: done ? sessions.messages(session) : messages, done, failures };
};

const noModel = (): never => {
  throw new TurnError('no-model', 'compact() does not call the model of a turn.');
};
