import { stop } from './decisions.js';
import type { HistoryOrigin, NewEventOf, TurnEvent, TurnEventOf } from './events.js';
import {
  answerMessages,
  isDecided,
  resultMessages,
  withDefinition,
  type CallSlot,
  type LoopState,
} from './loop-state.js';
import type { Message } from './messages.js';
import type { ModelRequest } from './model.js';
import { interruptedText } from './repair.js';
import type { ToolDefinition, ToolOutcome } from './tool.js';

/** What the loop wants to happen next. */
export interface Plan {
  /** Names what is wished for, with `count`: while it is on its way through the pipeline, the same wish is not made again. */
  readonly wish: string;
  readonly count: number;
  readonly events: readonly TurnEvent[];
  /** It adds to what the next request says: too late for one that is on its way. */
  readonly isForRequest?: boolean;
  /** The ids of the messages that it appends: what comes in meanwhile is appended after them. */
  readonly delivers?: readonly string[];
  /** What is wished for happens, whatever operators make of it. */
  readonly isFinal?: boolean;
}

/** What the plan needs besides the state. */
export interface PlanContext {
  /** The next request, but for its history and numbers. */
  request(): Omit<ModelRequest, 'messages'>;
  definitions(): ReadonlyMap<string, ToolDefinition>;
  readonly maxModelCalls: number;
}

/**
 * Says what comes next, from where the loop stands; nothing while it waits for a driver, an operator or a person.
 *
 * It only reads: the same state always gives the same plan, live, after a crash, and when the turn is being closed
 * without its operators.
 */
export const planNext = (state: LoopState, context: PlanContext, at: number): Plan | undefined => {
  if (state.end) return undefined;
  if (state.stop) return planClosing(state, state.stop, at);
  if (!state.loaded) return undefined;
  if (!state.inputAppended) return append(state, at, 'input', state.input);
  if (state.failure) {
    return planStop(state, at, 'stop', {
      afterStep: state.step,
      ...stop('error', state.failure.message, state.failure),
    });
  }
  if (state.asked || state.retrying) return undefined;
  return state.answer ? planAfterAnswer(state, state.answer, context, at) : planRequest(state, context, at);
};

const planRequest = (state: LoopState, context: PlanContext, at: number): Plan => {
  const { turn, step, history } = state;
  if (state.continuation?.length) {
    return { ...append(state, at, 'continue', state.continuation, state.continuations), isForRequest: true };
  }
  if (state.received.length > 0) return planSteering(state, at);
  if (isUsedUp(state, context)) return planCap(state, at);
  const attempt = state.attempt + 1;
  const request: TurnEvent = {
    type: 'model.request',
    turn,
    at,
    step,
    attempt,
    messages: history,
    ...context.request(),
  };
  return { wish: 'request', count: requestCount(state), events: [request] };
};

/** Tells a request from the ones before it, whether the model answered those or an operator. */
const requestCount = ({ modelCalls, steps }: LoopState): number => modelCalls + steps;

/** Whether this is a request that has not left yet, or the messages that it waits for. */
export const isOnItsWay = (plan: Plan | undefined, state: LoopState): boolean => {
  if (plan?.wish === 'request') return plan.count === requestCount(state);
  const [first] = plan?.delivers ?? [];
  return first !== undefined && state.received.some(({ id }) => id === first);
};

/** Whether the turn has made all the model calls it may make, or gone on as often as if it had. */
export const isUsedUp = ({ modelCalls, continuations }: LoopState, { maxModelCalls }: PlanContext): boolean =>
  modelCalls >= maxModelCalls || continuations > maxModelCalls;

/** Ends a turn that is used up. */
export const planCap = (state: LoopState, at: number): Plan => {
  const reason = `The turn has made ${state.modelCalls} model calls and gone on ${state.continuations} times; the option maxModelCalls of harness() allows no more.`;
  return { ...planStop(state, at, 'cap', stop('max-steps', reason)), isFinal: true };
};

const planSteering = (state: LoopState, at: number): Plan => {
  const delivers = state.received.map(({ id }) => id);
  const messages = state.received.map(({ message }) => message);
  return {
    wish: `steering:${delivers.join()}`,
    count: state.step,
    isForRequest: true,
    delivers,
    events: [{ type: 'history.append', turn: state.turn, at, origin: 'steering', messages, delivers }],
  };
};

const planAfterAnswer = (
  state: LoopState,
  answer: TurnEventOf<'model.response'>,
  context: PlanContext,
  at: number,
): Plan | undefined => {
  if (!state.answerAppended) return append(state, at, 'response', answerMessages(answer));
  if (state.slots.length === 0) return planCompletion(state, answer, at);
  if (!isDecided(state)) return planCalls(state, answer, context, at);
  if (state.slots.some((slot) => !slot.result)) return planDenied(state, at);
  return state.resultsAppended ? undefined : append(state, at, 'results', resultMessages(state.slots));
};

/** The model is done. It is a command like any other, so that an operator can answer `turn.continue`. */
const planCompletion = (state: LoopState, answer: TurnEventOf<'model.response'>, at: number): Plan =>
  planStop(state, at, 'completed', { afterStep: state.step, ...stop('completed', endReason(answer)) });

const planStop = (state: LoopState, at: number, wish: string, command: NewEventOf<'turn.stop'>): Plan => ({
  wish,
  count: state.step,
  events: [{ turn: state.turn, at, ...command }],
});

const planCalls = (state: LoopState, answer: TurnEventOf<'model.response'>, context: PlanContext, at: number): Plan => {
  const { turn, step, slots } = state;
  const isCut = answer.finishReason === 'length';
  if (isCut || state.received.length > 0) {
    const open = slots.filter((slot) => !slot.result);
    return answerAll(state, at, isCut ? 'cut' : 'skip', open, () => skipped(isCut ? truncatedReason : steeredReason));
  }
  const definitions = context.definitions();
  const events: TurnEvent[] = [];
  for (let index = 0; index < slots.length; index += 1) {
    const slot = slots[index] as CallSlot;
    if (!slot.result && !slot.decided) {
      events.push({ type: 'tool.call', turn, at, step, index, call: withDefinition(slot.call, definitions) });
    }
  }
  return { wish: 'calls', count: step, events };
};

/** The calls that were denied get their results; those that may run are the tool driver's. */
const planDenied = (state: LoopState, at: number): Plan | undefined => {
  const denied = state.slots.filter((slot) => slot.denied && !slot.result);
  if (denied.length === 0) return undefined;
  return answerAll(state, at, 'denied', denied, ({ denied: refusal }) => ({
    status: 'denied',
    reason: refusal?.reason ?? '',
    ...(refusal?.by !== undefined && { by: refusal.by }),
    output: { type: 'execution-denied', reason: refusal?.reason },
  }));
};

/** Answers what is open, completes the transcript and ends. */
const planClosing = (state: LoopState, { outcome, reason, error }: TurnEventOf<'turn.stop'>, at: number): Plan => {
  const closing = state.loaded ? planTranscript(state, reason ?? outcome, at) : undefined;
  if (closing) return closing;
  const undelivered = [...(state.inputAppended ? [] : state.input), ...state.received.map(({ message }) => message)];
  return {
    wish: 'end',
    count: state.step,
    events: [
      {
        type: 'turn.end',
        turn: state.turn,
        at,
        outcome,
        ...(reason !== undefined && { reason }),
        ...(error && { error }),
        steps: state.steps,
        usage: state.usage,
        ...(undelivered.length > 0 && { undelivered }),
      },
    ],
  };
};

/** What is on its way already has the name that it had before the stop, so that it is not asked for again. */
const planTranscript = (state: LoopState, reason: string, at: number): Plan | undefined => {
  if (!state.inputAppended) return append(state, at, 'input', state.input);
  const { turn, step, attempt, answer } = state;
  if (state.asked) {
    const error = { name: 'AbortError', code: 'aborted', message: `The model call was abandoned: ${reason}` };
    return { wish: 'close:request', count: step, events: [{ type: 'model.error', turn, at, step, attempt, error }] };
  }
  if (!answer) return undefined;
  if (!state.answerAppended) return append(state, at, 'response', answerMessages(answer));
  const open = state.slots.filter((slot) => !slot.result);
  if (open.length > 0) {
    const mayHaveRun = isDecided(state);
    return answerAll(state, at, 'close:calls', open, ({ decided, denied }) => ({
      status: 'cancelled',
      reason,
      output: { type: 'error-text', value: `${mayHaveRun && decided && !denied ? cutShort : neverRun} ${reason}` },
    }));
  }
  const owesResults = state.slots.length > 0 && !state.resultsAppended;
  return owesResults ? append(state, at, 'results', resultMessages(state.slots)) : undefined;
};

/** The results of the calls that may have run when the process died. */
export const planInterrupted = (state: LoopState, slots: readonly CallSlot[], at: number): Plan =>
  answerAll(state, at, 'interrupted', slots, () => ({
    status: 'interrupted',
    reason: 'The process ended while this call may have been running.',
    output: { type: 'error-text', value: interruptedText },
  }));

const answerAll = (
  { turn, step }: LoopState,
  at: number,
  wish: string,
  slots: readonly CallSlot[],
  outcomeOf: (slot: CallSlot) => ToolOutcome,
): Plan => ({
  wish,
  count: step,
  events: slots.map((slot) => ({ type: 'tool.result', turn, at, step, call: slot.call, ...outcomeOf(slot) })),
});

const append = (
  { turn, step }: LoopState,
  at: number,
  origin: HistoryOrigin,
  messages: readonly Message[],
  count = step,
): Plan => ({
  wish: origin,
  count,
  events: [{ type: 'history.append', turn, at, origin, messages }],
});

const skipped = (reason: string): ToolOutcome => ({
  status: 'skipped',
  reason,
  output: { type: 'error-text', value: reason },
});

const neverRun = 'Cancelled before it ran:';
const cutShort = 'Cancelled while it may have been running; what it had done by then stays done:';
const truncatedReason =
  'Not run: the message that asked for this call was cut off at the output limit. Ask again, in smaller pieces if it was long.';
const steeredReason = 'Not run: a new message came in first.';

const endReason = ({ finishReason }: TurnEventOf<'model.response'>): string | undefined =>
  finishReason === 'stop' || finishReason === 'tool-calls'
    ? undefined
    : `The model stopped with the finish reason ${finishReason}.`;
