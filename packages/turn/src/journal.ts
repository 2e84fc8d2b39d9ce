import type { TurnEvent } from './events.js';
import { answerMessages, fold, initialState, resultMessages, type LoopState } from './loop-state.js';
import { MessageList } from './message-list.js';
import type { Message } from './messages.js';
import { repairHistory } from './repair.js';
import type { JournalRecord, SessionSnapshot } from './session-store.js';

/** The facts and commands that make up a turn. Pieces on their way and notices are not among them. */
const recorded: ReadonlySet<string> = new Set<TurnEvent['type']>([
  'turn.start',
  'session.loaded',
  'model.request',
  'model.response',
  'model.error',
  'tool.call',
  'tool.result',
  'input.received',
  'approval.request',
  'approval.answer',
  'history.append',
  'history.replace',
  'session.state',
  'turn.continue',
  'turn.stop',
  'turn.end',
]);

/** Whether an event of this type is journaled. */
export const isRecorded = (type: string): boolean => recorded.has(type);

/**
 * Whether the event only repeats what the records before it say.
 *
 * @param fed the messages that the runner itself has asked to append last, told from the state
 */
export const isDerived = (event: TurnEvent, state: LoopState, fed: readonly Message[] | undefined): boolean => {
  if (event.type === 'history.append') return event.messages === fed && derivedOrigins.has(event.origin);
  return event.type === 'tool.result' && state.slots.get(event.call.id)?.call.input === event.call.input;
};

const derivedOrigins: ReadonlySet<string> = new Set(['input', 'response', 'results']);

/** The event as it was, from how it was written down and where the loop stood. */
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

/** Goes through a journal from the beginning: what happened, and where it left the loop. */
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
 * A session after a turn, from the session before it and the turn's journal.
 *
 * For stores: this is what becomes the snapshot when the next turn begins.
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
