import type { ErrorInfo } from './error-info.js';
import type { HistoryOrigin, TurnEvent, TurnEventOf, TurnState } from './events.js';
import type { JSONValue } from './json.js';
import { MessageList } from './message-list.js';
import { toolCallsOf, type AssistantPart, type Message, type ToolPart, type UserMessage } from './messages.js';
import { repairHistory } from './repair.js';
import type { ToolCall, ToolDefinition } from './tool.js';
import { awaitsResults, extend } from './transcript.js';
import { addUsage, noUsage, type Usage } from './usage.js';

/** A tool call of the current step and how far it has come. */
export interface CallSlot {
  call: ToolCall;
  /** It has left the pipeline: it may run, or it was denied. */
  decided: boolean;
  denied: TurnEventOf<'tool.call'>['denied'];
  result: TurnEventOf<'tool.result'> | undefined;
}

/**
 * Everything the loop knows about a turn, as the sum of the events that have left the pipeline.
 *
 * The same sum is made live and from a journal, so that a resumed turn stands exactly where the old one stood.
 */
export interface LoopState {
  readonly turn: string;
  session: string;
  started: boolean;
  loaded: boolean;
  input: readonly UserMessage[];
  inputAppended: boolean;
  history: MessageList;
  /** Messages of operators that wait until the results of the step are in the history. */
  waiting: readonly Message[];
  kept: Record<string, JSONValue>;
  /** Number of the current step, from 1. */
  step: number;
  attempt: number;
  modelCalls: number;
  steps: number;
  usage: Usage;
  /** A model request has left and is not answered yet. */
  asked: boolean;
  /** An operator has said that it will ask again. */
  retrying: boolean;
  failure: ErrorInfo | undefined;
  answer: TurnEventOf<'model.response'> | undefined;
  /** The history has the answer, or there is nothing of it to add. */
  answerAppended: boolean;
  slots: readonly CallSlot[];
  resultsAppended: boolean;
  /** Messages that came in while the turn runs and wait for the next step. */
  received: readonly TurnEventOf<'input.received'>[];
  continuation: readonly Message[] | undefined;
  /** How often the turn was told to go on. */
  continuations: number;
  /** Open requests for approval, by id. */
  approvals: ReadonlySet<string>;
  stop: TurnEventOf<'turn.stop'> | undefined;
  end: TurnEventOf<'turn.end'> | undefined;
}

export const initialState = (turn: string): LoopState => ({
  turn,
  session: '',
  started: false,
  loaded: false,
  input: [],
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
  retrying: false,
  failure: undefined,
  answer: undefined,
  answerAppended: false,
  slots: [],
  resultsAppended: false,
  received: [],
  continuation: undefined,
  continuations: 0,
  approvals: new Set(),
  stop: undefined,
  end: undefined,
});

/** Whether this event still means something where the loop stands; what comes late or twice does not. */
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
      return !state.stop && slotOf(state, event.call.id)?.decided === false && !slotOf(state, event.call.id)?.result;
    case 'tool.result':
      return slotOf(state, event.call.id)?.result === undefined && slotOf(state, event.call.id) !== undefined;
    case 'turn.stop':
      return !state.stop && !isOvertaken(state, event.afterStep);
    case 'turn.continue':
      return !state.stop;
    case 'history.append':
      return state.loaded && isMissing(state, event.origin);
    case 'history.replace':
      return state.loaded && !awaitsResults(state.history);
    default:
      return true;
  }
};

/** Whether this is about the latest attempt, or about one that an operator has answered before it was made. */
const isLatest = (state: LoopState, { step, attempt }: { readonly step: number; readonly attempt: number }): boolean =>
  step === state.step ? attempt >= state.attempt : step > state.step;

/** Whether the history lacks what comes from there. What was not delivered before the turn stopped stays out of it. */
const isMissing = (state: LoopState, origin: HistoryOrigin): boolean => {
  switch (origin) {
    case 'input':
      return !state.inputAppended;
    case 'response':
      return state.answer !== undefined && !state.answerAppended;
    case 'results':
      return state.slots.length > 0 && !state.resultsAppended;
    case 'steering':
    case 'continue':
      return !state.stop;
    default:
      return true;
  }
};

const isOvertaken = (state: LoopState, afterStep: number | undefined): boolean =>
  afterStep !== undefined &&
  (afterStep !== state.step || (!state.failure && (state.received.length > 0 || state.continuation !== undefined)));

/** Adds an event that has left to the state; a step that is over with it gives way to the next. */
export const fold = (state: LoopState, event: TurnEvent): void => {
  const add = folds[event.type] as ((state: LoopState, event: TurnEvent) => void) | undefined;
  add?.(state, event);
  if (isStepOver(state)) beginStep(state);
};

/** Whether everything of the step is done and another one follows. */
const isStepOver = (state: LoopState): boolean => {
  if (state.stop || !state.answer || !state.answerAppended) return false;
  if (state.slots.length > 0) return state.resultsAppended;
  return state.continuation !== undefined || state.received.length > 0;
};

const beginStep = (state: LoopState): void => {
  state.step += 1;
  state.attempt = 0;
  state.answer = undefined;
  state.slots = [];
  if (state.continuation?.length === 0) state.continuation = undefined;
};

/** What the turn is doing, for people. */
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
    state.retrying = false;
    state.failure = undefined;
    state.step = event.step;
    state.attempt = event.attempt;
    state.modelCalls += 1;
  },
  'model.response': (state, event) => {
    const usage = addUsage(state.usage, event.usage);
    const slots = toolCallsOf({ role: 'assistant', content: event.content }).map(
      ({ toolCallId, toolName, input }): CallSlot => ({
        call: { id: toolCallId, name: toolName, input },
        decided: false,
        denied: undefined,
        result: undefined,
      }),
    );
    state.asked = false;
    state.retrying = false;
    state.failure = undefined;
    state.answer = event;
    state.answerAppended = !event.content.some(isSaid);
    state.resultsAppended = false;
    state.steps += 1;
    state.usage = usage;
    state.slots = slots;
  },
  'model.error': (state, event) => {
    state.asked = false;
    if (event.usage) state.usage = addUsage(state.usage, event.usage);
    state.retrying = event.retrying === true;
    state.failure = state.retrying ? undefined : event.error;
  },
  'tool.call': (state, event) => {
    const slot = slotOf(state, event.call.id);
    if (!slot) return;
    slot.decided = true;
    slot.call = event.call;
    slot.denied = event.denied;
  },
  'tool.result': (state, event) => {
    const slot = slotOf(state, event.call.id);
    if (slot) slot.result = event;
  },
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
    const kept = { ...state.kept };
    if (event.value === null) delete kept[event.key];
    else kept[event.key] = event.value;
    state.kept = kept;
  },
  'turn.continue': (state, event) => {
    state.continuation = [...(state.continuation ?? []), ...event.messages];
    state.continuations += 1;
    state.failure = undefined;
    state.retrying = false;
  },
  'turn.stop': (state, event) => {
    state.stop = event;
  },
  'turn.end': (state, event) => {
    state.end = event;
  },
};

/** What the runner appends is in order as it is. */
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

/** What was added while the messages before it were on their way. */
const remaining = (messages: readonly Message[] = [], count: number): readonly Message[] | undefined =>
  messages.length > count ? messages.slice(count) : undefined;

export const slotOf = (state: LoopState, id: string): CallSlot | undefined => {
  for (const slot of state.slots) if (slot.call.id === id) return slot;
  return undefined;
};

/** Whether all calls of the step were decided in full, so that those which are allowed may have run. */
export const isDecided = (state: LoopState): boolean => state.slots.every((slot) => slot.decided || slot.result);

/** The calls that may run and have no result yet. */
export const runnable = (state: LoopState): readonly CallSlot[] =>
  state.slots.filter((slot) => slot.decided && !slot.denied && !slot.result);

/** Whether a call that may have run already may run again. */
export const isRepeatable = ({ call }: CallSlot): boolean => call.idempotent === true || call.effect === 'read-only';

/** What the runner adds to the history for the model's answer; nothing for an empty one, which providers refuse. */
export const answerMessages = (answer: TurnEventOf<'model.response'>): readonly Message[] => {
  const content = answer.content.every(isSaid) ? answer.content : answer.content.filter(isSaid);
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
};

const isSaid = (part: AssistantPart): boolean =>
  part.type !== 'text' || part.text !== '' || part.providerOptions !== undefined;

/** The results of a step in the order of its calls. */
export const resultMessages = (slots: readonly CallSlot[]): readonly Message[] => {
  const content: ToolPart[] = [];
  for (const { call, result } of slots) {
    if (result) content.push({ type: 'tool-result', toolCallId: call.id, toolName: call.name, output: result.output });
  }
  return [{ role: 'tool', content }];
};

/** The call as the model asked for it, with what its tool declares. */
export const withDefinition = (call: ToolCall, definitions: ReadonlyMap<string, ToolDefinition>): ToolCall => {
  const definition = definitions.get(call.name);
  if (!definition) return call;
  const { id, name, input } = call;
  return { id, name, input, effect: definition.effect, idempotent: definition.idempotent, paths: definition.paths };
};
