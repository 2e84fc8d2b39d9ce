import { payloads } from '../checks/event-checks.js';
import type { TurnEvent } from '../contract/events.js';
import { resultMessages } from '../loop/call-slots.js';
import { answerMessages, fold, initialState, type LoopState } from '../loop/loop-state.js';
import { MessageList } from '../contract/message-list.js';
import type { Message } from '../contract/messages.js';
import { repairHistory } from '../transcript/repair.js';
import type { JournalRecord, SessionSnapshot } from '../contract/session-store.js';

/** The facts and commands of a turn. Deltas, progress and notices are not recorded. */
const recorded = new Set(payloads.keys());
recorded.delete('model.delta');
recorded.delete('tool.progress');

/** Whether events of this type are journaled. */
export const isRecorded = (type: string): boolean => recorded.has(type);

/**
 * Whether the content of an event follows from the records before it.
 *
 * @param proposed the messages that the runner itself last asked to append, derived from the state
 */
export const isDerived = (event: TurnEvent, state: LoopState, proposed: readonly Message[] | undefined): boolean => {
  if (event.type === 'history.append') return event.messages === proposed && derivedOrigins.has(event.origin);
  return event.type === 'tool.result' && state.slots.get(event.call.id)?.call.input === event.call.input;
};

const derivedOrigins: ReadonlySet<string> = new Set(['input', 'response', 'results']);

/** Restores an event from its record and the state before it. */
export const expand = (event: TurnEvent, state: LoopState, snapshot: SessionSnapshot): TurnEvent => {
  switch (event.type) {
    case 'model.request':
      return Object.hasOwn(event, 'messages') ? event : { ...event, messages: state.history };
    case 'session.loaded':
      return { ...event, messages: loadedMessages(snapshot, event.repairs.length > 0) };
    case 'history.append':
      return Object.hasOwn(event, 'messages') ? event : { ...event, messages: derive(event.origin, state) };
    case 'tool.result':
      return Object.hasOwn(event.call, 'input')
        ? event
        : { ...event, call: state.slots.get(event.call.id)?.call ?? event.call };
    default:
      return event;
  }
};

/** Replays a journal from its beginning: returns its events and the state after them. */
export const replay = (
  turn: string,
  snapshot: SessionSnapshot,
  journal: readonly JournalRecord[],
): { readonly state: LoopState; readonly events: readonly TurnEvent[] } => {
  const state = initialState(turn);
  const events = journal.map((record) => {
    const event = expand(record.event, state, snapshot);
    fold(state, event);
    return event;
  });
  return { state, events };
};

/**
 * Returns the events of a turn from its journal, which omits what follows from earlier records. The messages of a
 * request are the history at this point, without what operators changed for this request only.
 *
 * @param snapshot - the session before the turn. Without it, `session.loaded` and `model.request` lack the messages of
 *   earlier turns; all other events are complete.
 */
export const journalEvents = (
  journal: readonly JournalRecord[],
  snapshot: SessionSnapshot = { messages: MessageList.empty, state: {} },
): readonly TurnEvent[] => replay(journal[0]?.event.turn ?? '', snapshot, journal).events;

/**
 * Returns the session after a turn, from the session before it and the turn's journal.
 *
 * For stores: the result becomes the snapshot when the next turn begins.
 */
export const foldJournal = (snapshot: SessionSnapshot, journal: readonly JournalRecord[]): SessionSnapshot => {
  const turn = journal[0]?.event.turn;
  if (turn === undefined) return snapshot;
  const { state } = replay(turn, snapshot, journal);
  return state.loaded ? { messages: state.history, state: state.kept } : snapshot;
};

const loadedMessages = ({ messages }: SessionSnapshot, repaired: boolean): MessageList =>
  MessageList.of(repaired ? repairHistory(messages).messages : messages);

const derive = (origin: string, state: LoopState): readonly Message[] => {
  if (origin === 'input') return state.input;
  if (origin === 'response') return state.answer ? answerMessages(state.answer) : [];
  return resultMessages(state.slots);
};
