import { CallSlots, type CallSlot } from './call-slots.js';
import type { ErrorInfo } from '../contract/error-info.js';
import type { HistoryOrigin, TurnEvent, TurnEventOf, TurnState } from '../contract/events.js';
import type { JSONValue } from '../contract/json.js';
import { MessageList } from '../contract/message-list.js';
import type { AssistantPart, Message, UserMessage } from '../contract/messages.js';
import { repairHistory } from '../transcript/repair.js';
import { awaitsResults, extend } from '../transcript/transcript.js';
import { addUsage, noUsage, type Usage } from '../contract/usage.js';

/**
 * The state of a turn, folded from the events that have left the pipeline.
 *
 * Live events and the journal fold to the same state, so a resumed turn continues exactly where the first one was.
 */
export interface LoopState {
  readonly turn: string;
  session: string;
  started: boolean;
  loaded: boolean;
  input: readonly UserMessage[];
  inputAppended: boolean;
  history: MessageList;
  /** Messages of operators that wait for the results of the step. */
  waiting: readonly Message[];
  kept: Record<string, JSONValue>;
  /** Number of the current step, from 1. */
  step: number;
  attempt: number;
  modelCalls: number;
  steps: number;
  usage: Usage;
  /** A model request has left and has no answer yet. */
  asked: boolean;
  /** The number of model calls that failed or that an operator answered with an error. */
  errors: number;
  failure: ErrorInfo | undefined;
  answer: TurnEventOf<'model.response'> | undefined;
  /** The answer is in the history, or it has no content to add. */
  answerAppended: boolean;
  slots: CallSlots;
  resultsAppended: boolean;
  /** Messages that arrived during the turn and wait for the next step. */
  received: readonly TurnEventOf<'input.received'>[];
  continuation: readonly Message[] | undefined;
  /** The number of `turn.continue` events. */
  continuations: number;
  /** Ids of the pending approval requests. */
  approvals: ReadonlySet<string>;
  stop: TurnEventOf<'turn.stop'> | undefined;
  end: TurnEventOf<'turn.end'> | undefined;
}

const noCalls = new CallSlots();

export const initialState = (
  turn: string,
  { session, input }: Pick<TurnEventOf<'turn.start'>, 'session' | 'input'> = { session: '', input: [] },
): LoopState => ({
  turn,
  session,
  started: false,
  loaded: false,
  input,
  inputAppended: false,
  history: MessageList.empty,
  waiting: [],
  kept: {},
  step: 1,
  attempt: 0,
  modelCalls: 0,
  steps: 0,
  usage: noUsage,
  asked: false,
  errors: 0,
  failure: undefined,
  answer: undefined,
  answerAppended: false,
  slots: noCalls,
  resultsAppended: false,
  received: [],
  continuation: undefined,
  continuations: 0,
  approvals: new Set(),
  stop: undefined,
  end: undefined,
});

/** Whether the current state accepts this event; late and duplicate events are not accepted. */
export const accepts = (state: LoopState, event: TurnEvent): boolean => {
  if (state.end) return false;
  switch (event.type) {
    case 'turn.start':
      return !state.started;
    case 'session.loaded':
      return !state.loaded;
    case 'model.request':
      return !state.stop && !state.asked && !state.answer;
    case 'model.response':
      return isLatest(state, event) && !state.answer && !(state.stop && !state.asked);
    case 'model.error':
      return isLatest(state, event) && !state.answer && (state.asked || !state.stop);
    case 'tool.call':
      return !state.stop && isUndecided(state.slots.get(event.call.id));
    case 'tool.result':
      return isOpen(state.slots.get(event.call.id));
    case 'turn.stop':
      return !state.stop && !isOvertaken(state, event.afterStep);
    case 'turn.continue':
      return !state.stop;
    case 'history.append':
      return state.loaded && isMissing(state, event.origin);
    case 'history.replace':
      return state.loaded && !awaitsResults(state.history);
    case 'turn.end':
      return state.stop !== undefined && isTranscriptComplete(state);
    default:
      return true;
  }
};

const isUndecided = (slot: CallSlot | undefined): boolean => slot !== undefined && !slot.decided && !slot.result;

const isOpen = (slot: CallSlot | undefined): boolean => slot !== undefined && !slot.result;

/** Whether the history is complete enough for a provider to accept it. */
const isTranscriptComplete = (state: LoopState): boolean => {
  if (!state.loaded) return true;
  if (!state.inputAppended || state.asked) return false;
  if (!state.answer) return true;
  return state.answerAppended && (state.slots.size === 0 || state.resultsAppended);
};

/** Whether the event belongs to the latest attempt, or to one that an operator answered before it was sent. */
const isLatest = (state: LoopState, { step, attempt }: { readonly step: number; readonly attempt: number }): boolean =>
  step === state.step ? attempt >= state.attempt : step > state.step;

/**
 * Whether the messages of this origin are still missing from the history. Undelivered messages of a stopping turn
 * stay out.
 */
const isMissing = (state: LoopState, origin: HistoryOrigin): boolean => {
  switch (origin) {
    case 'input':
      return !state.inputAppended;
    case 'response':
      return state.answer !== undefined && !state.answerAppended;
    case 'results':
      return state.slots.size > 0 && !state.resultsAppended;
    case 'steering':
    case 'continue':
      return !state.stop;
    default:
      return true;
  }
};

/** Whether another step has begun since the runner proposed to end the turn after this one. */
const isOvertaken = ({ step }: LoopState, afterStep: number | undefined): boolean =>
  afterStep !== undefined && afterStep < step;

/** Folds an event that has left into the state, and begins the next step if the current one is complete. */
export const fold = (state: LoopState, event: TurnEvent): void => {
  const add = folds[event.type] as ((state: LoopState, event: TurnEvent) => void) | undefined;
  add?.(state, event);
  if (isStepOver(state)) beginStep(state);
};

/** Whether the current step is complete and another one follows. */
const isStepOver = (state: LoopState): boolean => {
  if (state.stop || !state.answer || !state.answerAppended) return false;
  if (state.slots.size > 0) return state.resultsAppended;
  return state.continuation !== undefined || state.received.length > 0;
};

const beginStep = (state: LoopState): void => {
  state.step += 1;
  state.attempt = 0;
  state.answer = undefined;
  state.slots = noCalls;
  if (state.continuation?.length === 0) state.continuation = undefined;
};

/** Marks the unanswered model call of a turn whose process died as lost. */
export const interrupt = (state: LoopState): void => {
  state.asked = false;
};

/** Returns the current activity of the turn. */
export const phaseOf = (state: LoopState, areToolsRunning: boolean): TurnState => {
  if (!state.loaded) return 'queued';
  if (state.approvals.size > 0) return 'waiting-for-input';
  return areToolsRunning ? 'waiting-for-tool' : 'running';
};

type Folds = { readonly [Type in TurnEvent['type']]?: (state: LoopState, event: TurnEventOf<Type>) => void };

const folds: Folds = {
  'turn.start': (state, event) => {
    state.started = true;
    state.session = event.session;
    state.input = event.input;
  },
  'session.loaded': (state, event) => {
    state.loaded = true;
    state.history = event.messages;
    state.kept = { ...event.state };
  },
  'model.request': (state, event) => {
    state.asked = true;
    state.failure = undefined;
    state.step = event.step;
    state.attempt = event.attempt;
    state.modelCalls += 1;
  },
  'model.response': (state, event) => {
    state.asked = false;
    state.failure = undefined;
    state.answer = event;
    state.answerAppended = !event.content.some(hasContent);
    state.resultsAppended = false;
    state.steps += 1;
    state.usage = addUsage(state.usage, event.usage);
    state.slots = new CallSlots(event);
  },
  'model.error': (state, event) => {
    state.asked = false;
    state.errors += 1;
    state.step = event.step;
    state.attempt = Math.max(state.attempt, event.attempt);
    if (event.usage) state.usage = addUsage(state.usage, event.usage);
    state.failure = event.retrying === true ? undefined : event.error;
  },
  'tool.call': (state, event) => state.slots.decide(event),
  'tool.result': (state, event) => state.slots.answer(event),
  'input.received': (state, event) => {
    state.received = [...state.received, event];
  },
  'approval.request': (state, event) => {
    state.approvals = new Set([...state.approvals, event.id]);
  },
  'approval.answer': (state, event) => {
    const approvals = new Set(state.approvals);
    approvals.delete(event.id);
    state.approvals = approvals;
  },
  'history.append': (state, event) => {
    const messages = runnersOrigins.has(event.origin) ? event.messages : repairHistory(event.messages).messages;
    [state.history, state.waiting] = extend(state.history, state.waiting, messages);
    markAppended(state, event);
  },
  'history.replace': (state, event) => {
    state.history = MessageList.of(repairHistory(event.messages).messages);
  },
  'session.state': (state, event) => {
    const others = Object.entries(state.kept).filter(([key]) => key !== event.key);
    // Built from entries, because an assignment to the key "__proto__" would be lost.
    state.kept = Object.fromEntries(event.value === null ? others : [...others, [event.key, event.value]]);
  },
  'turn.continue': (state, event) => {
    state.continuation = [...(state.continuation ?? []), ...event.messages];
    state.continuations += 1;
    state.failure = undefined;
  },
  'turn.stop': (state, event) => {
    state.stop = event;
    // Replaces an end that could not be stored.
    state.end = undefined;
  },
  'turn.end': (state, event) => {
    state.end = event;
  },
};

/** Messages that the runner itself appends are valid as they are. */
const runnersOrigins: ReadonlySet<string> = new Set<HistoryOrigin>(['input', 'response', 'results', 'steering']);

const markAppended = (state: LoopState, event: TurnEventOf<'history.append'>): void => {
  switch (event.origin) {
    case 'input':
      state.inputAppended = true;
      break;
    case 'response':
      state.answerAppended = true;
      break;
    case 'results':
      state.resultsAppended = true;
      break;
    case 'continue':
      state.continuation = remaining(state.continuation, event.messages.length);
      break;
    case 'steering':
      state.received = state.received.filter(({ id }) => event.delivers?.includes(id) !== true);
      break;
    default:
  }
};

/** Returns the messages that were received while the listed ones were being delivered. */
const remaining = (messages: readonly Message[] = [], count: number): readonly Message[] | undefined =>
  messages.length > count ? messages.slice(count) : undefined;

/** The message for the model's answer; none for an empty answer, which providers reject. */
export const answerMessages = (answer: TurnEventOf<'model.response'>): readonly Message[] => {
  const content = answer.content.every(hasContent) ? answer.content : answer.content.filter(hasContent);
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
};

const hasContent = (part: AssistantPart): boolean =>
  part.type !== 'text' || part.text !== '' || part.providerOptions !== undefined;
