import { CallIds } from '../transcript/call-ids.js';
import { DuplicateTurnError, SessionUnfinishedError, toErrorInfo, UnknownTurnError } from '../contract/errors.js';
import type { TurnEvent, TurnEventOf } from '../contract/events.js';
import { checked } from '../checks/data-checks.js';
import { stored } from '../checks/message-checks.js';
import { foldJournal, isDerived, replay } from '../journal/journal.js';
import { runnable } from '../loop/call-slots.js';
import { fold, type LoopState } from '../loop/loop-state.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { MessageList } from '../contract/message-list.js';
import { interruptedResults, planNext, type PlanContext } from '../loop/plan.js';
import type { Repair } from '../contract/messages.js';
import { repairWith } from '../transcript/repair.js';
import { wellFormed } from '../transcript/well-formed.js';
import type { OpenOptions, OpenSession, PastTurn, SessionSnapshot } from '../contract/session-store.js';
import type { ValidMessages } from '../journal/session-gate.js';
import { SessionWriter } from '../journal/session-writer.js';

export interface Opened {
  readonly writer: SessionWriter;
  readonly messages: MessageList;
  readonly state: SessionSnapshot['state'];
  readonly repairs: readonly Repair[];
  readonly callIds: CallIds;
}

/** A session with a turn to resume. */
export interface Reopened extends Opened {
  readonly loop: LoopState;
  readonly recorded: readonly TurnEvent[];
}

/** Opens the session of a turn. */
export interface SessionOpener {
  locate(turn: string): MaybePromise<string | undefined>;
  hold(session: string, options?: OpenOptions): MaybePromise<OpenSession>;
  /** Messages that need no check. Valid messages are added. */
  readonly valid: ValidMessages;
}

/**
 * Opens a session for a new turn. A turn before it that never ended is ended first, as interrupted.
 *
 * @throws DuplicateTurnError if the session has recorded a turn with this id
 * @throws SessionUnfinishedError if that turn must be resumed instead
 */
export const openForTurn = (
  opener: SessionOpener,
  { session, turn }: TurnEventOf<'turn.start'>,
  at: number,
): MaybePromise<Opened> =>
  openAnd(opener.hold(session), (open) => {
    const last = open.journal.at(-1)?.event;
    const first = last?.turn === turn ? latestTurn(open.journal) : open.pastTurn?.(turn);
    if (first) throw new DuplicateTurnError(session, first);
    if (last === undefined || last.type === 'turn.end') {
      return opened(open, foldJournal(open.snapshot, open.journal), 0, opener);
    }
    if (open.mustResume === true) throw new SessionUnfinishedError(session, last.turn);
    return andThen(endInterrupted(open, last.turn, at), (snapshot) => opened(open, snapshot, 0, opener));
  });

const latestTurn = (journal: OpenSession['journal']): PastTurn | undefined => {
  const first = journal[0]?.event;
  const last = journal.at(-1)?.event;
  if (!first) return undefined;
  return { turn: first.turn, startedAt: first.at, outcome: last?.type === 'turn.end' ? last.outcome : undefined };
};

/** Opens the session of a turn in order to continue it. */
export const openForResume = (opener: SessionOpener, turn: string): MaybePromise<Reopened> =>
  andThen(opener.locate(turn), (session) => {
    if (session === undefined) throw new UnknownTurnError(turn);
    return openAnd(opener.hold(session, { resume: turn }), (open): Reopened => {
      if (open.journal[0]?.event.turn !== turn) throw new UnknownTurnError(turn);
      const { state, events } = replay(turn, open.snapshot, open.journal);
      const callIds = new CallIds(state.loaded ? state.history : open.snapshot.messages);
      for (const { call } of state.slots) callIds.claim(call.id);
      return { ...opened(open, open.snapshot, open.journal.length, opener), callIds, loop: state, recorded: events };
    });
  });

/** Reads a session that is being opened; releases it again if that fails. */
const openAnd = <Result>(
  opening: MaybePromise<OpenSession>,
  look: (open: OpenSession) => MaybePromise<Result>,
): MaybePromise<Result> =>
  andThen(opening, (open) => {
    const closeAndThrow = async (error: unknown): Promise<never> => {
      try {
        await open.close();
      } catch {
        // The first error is the cause; an error of close() would hide it.
      }
      throw error;
    };
    try {
      const result = look(open);
      return isPromise(result) ? result.then(undefined, closeAndThrow) : result;
    } catch (error) {
      return closeAndThrow(error);
    }
  });

const opened = (open: OpenSession, snapshot: SessionSnapshot, seq: number, { valid }: SessionOpener): Opened => {
  const { messages, repairs, callIds } = repairWith(snapshot.messages, (message, index) => {
    const known = valid.get(message);
    if (known !== undefined && known.role === message.role && known.content === message.content) return message;
    const cleaned = wellFormed(checked(stored.message, message, 'The loaded session', `messages[${index}]`));
    valid.set(cleaned, { role: cleaned.role, content: cleaned.content });
    return cleaned;
  });
  return {
    writer: new SessionWriter(open, seq),
    messages: MessageList.of(repairs.length === 0 ? snapshot.messages : messages),
    state: snapshot.state,
    repairs,
    callIds,
  };
};

/** Records the end of a turn whose process died: calls that may have run are answered as interrupted. */
const endInterrupted = (open: OpenSession, turn: string, at: number): MaybePromise<SessionSnapshot> => {
  const { state } = replay(turn, open.snapshot, open.journal);
  const writer = new SessionWriter(open, open.journal.length);
  const written: PromiseLike<void>[] = [];
  const commit = (event: TurnEvent): void => {
    const proposed = event.type === 'history.append' ? event.messages : undefined;
    const one = writer.write(event, isDerived(event, state, proposed));
    if (isPromise(one)) written.push(one);
    fold(state, event);
  };
  closeTurn(state, at, { outcome: 'error', reason: 'The process ended before the turn did.' }, true, commit);
  // All are awaited: a rejection that is not observed ends the process.
  const stored = written.length > 0 ? Promise.all(written) : undefined;
  return andThen<unknown, SessionSnapshot>(stored, () =>
    state.loaded ? { messages: state.history, state: state.kept } : open.snapshot,
  );
};

/** The outcome of a turn that ends without its operators. */
export type Ending = Pick<NonNullable<LoopState['stop']>, 'outcome' | 'reason' | 'error'>;

/** The outcome of a turn in which something failed. */
export const failed = (reason: string, error: unknown): Ending => ({
  outcome: 'error',
  reason,
  error: toErrorInfo(error),
});

/**
 * Ends a turn without its operators: answers open calls, completes the transcript and ends the turn.
 *
 * An error takes precedence over the reason for which the turn was stopping. If a native operator has put a value into
 * an event that throws when it is read, the turn ends as it is; its transcript is repaired when the session is opened.
 *
 * @param commit - writes an event and folds it into the state
 */
export const closeTurn = (
  state: LoopState,
  at: number,
  ending: Ending,
  isInterrupted: boolean,
  commit: (event: TurnEvent) => void,
): void => {
  try {
    const isNewError = ending.error !== undefined && state.stop?.error === undefined;
    if (!state.stop || isNewError) commit({ type: 'turn.stop', turn: state.turn, at, ...ending });
    if (isInterrupted && state.slots.areDecided) {
      for (const event of interruptedResults(state, runnable(state), at)) commit(event);
    }
    for (let plan = planNext(state, closingContext, at); plan; plan = planNext(state, closingContext, at)) {
      for (const event of plan.events()) commit(event);
    }
  } catch (error) {
    const { turn, steps, usage } = state;
    commit({ type: 'turn.end', turn, at, ...failed('The turn could not be completed.', error), steps, usage });
  }
};

/** Rejects any request: a turn that is being closed makes none. */
const closingContext: PlanContext = {
  request: () => ({ system: [], tail: [], tools: [], settings: {} }),
  definitions: () => new Map(),
  maxModelCalls: 0,
};
