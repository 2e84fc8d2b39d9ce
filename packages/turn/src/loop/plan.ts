import { isRepeatable, resultMessages, runnable, withDefinition, type CallSlot } from './call-slots.js';
import { stop } from '../contract/decisions.js';
import type { HistoryOrigin, NewEventOf, TurnEvent, TurnEventOf } from '../contract/events.js';
import { answerMessages, type LoopState } from './loop-state.js';
import type { Message } from '../contract/messages.js';
import type { ModelRequest } from '../contract/model.js';
import { interruptedText } from '../transcript/repair.js';
import type { ToolDefinition, ToolOutcome } from '../contract/tool.js';

/** The next action of the loop. */
export interface Plan {
  /** Identifies the plan together with `count`: a plan whose events are in the pipeline is not fed again. */
  readonly name: string;
  readonly count: number;
  /** Makes the events to feed. */
  readonly events: () => readonly TurnEvent[];
  /** It adds messages to the next request, so it is too late once that request is in the pipeline. */
  readonly isForRequest?: boolean;
  /** The ids of the messages that it appends. Messages received later are appended after them. */
  readonly delivers?: readonly string[];
  /** No operator can prevent it. */
  readonly isFinal?: boolean;
}

/** What the plan needs besides the state. */
export interface PlanContext {
  /** Makes the next request, without its history and numbers. */
  request(): Omit<ModelRequest, 'messages'>;
  definitions(): ReadonlyMap<string, ToolDefinition>;
  readonly maxModelCalls: number;
}

/**
 * Returns the next action of the loop, or nothing while the turn waits for a driver, an operator or a person.
 *
 * It is a pure function: the same state gives the same plan, live, after a crash, and when the turn is closed without
 * its operators. After a failed model call that an operator marked as `retrying`, it plans the same request again.
 */
export const planNext = (state: LoopState, context: PlanContext, at: number): Plan | undefined => {
  if (state.end) return undefined;
  if (state.stop) return planClosing(state, state.stop, at);
  if (!state.loaded) return undefined;
  if (!state.inputAppended) return planAppend(state, at, 'input', ({ input }) => input, state);
  if (state.failure) {
    const command = { afterStep: state.step, ...stop('error', state.failure.message, state.failure) };
    return planStop(state, at, 'stop', state.errors, command);
  }
  if (state.asked) return undefined;
  return state.answer ? planAfterAnswer(state, state.answer, context, at) : planRequest(state, context, at);
};

const planRequest = (state: LoopState, context: PlanContext, at: number): Plan => {
  const { turn, step, history, continuation } = state;
  if (continuation?.length) {
    return {
      ...planAppend(state, at, 'continue', (messages) => messages, continuation, state.continuations),
      isForRequest: true,
    };
  }
  if (state.received.length > 0) return planSteering(state, at);
  if (isOverCap(state, context)) return planCap(state, context, at);
  const attempt = state.attempt + 1;
  return {
    name: 'request',
    count: requestCount(state),
    events: () => [{ type: 'model.request', turn, at, step, attempt, messages: history, ...context.request() }],
  };
};

/** Numbers the requests, including those that an operator answered. */
const requestCount = ({ modelCalls, steps, errors }: LoopState): number => modelCalls + steps + errors;

/** Whether a request, or messages for it, are still in the pipeline. */
export const isInFlight = (plan: Plan | undefined, state: LoopState): boolean => {
  if (plan?.name === 'request') return plan.count === requestCount(state);
  const [first] = plan?.delivers ?? [];
  return first !== undefined && state.received.some(({ id }) => id === first);
};

/** Whether the turn has reached the cap for model calls, errors or continuations. */
export const isOverCap = ({ modelCalls, continuations, errors }: LoopState, { maxModelCalls }: PlanContext): boolean =>
  modelCalls >= maxModelCalls || continuations > maxModelCalls || errors > maxModelCalls;

/** Ends a turn that has reached the cap. */
export const planCap = (state: LoopState, { maxModelCalls }: PlanContext, at: number): Plan => {
  const { modelCalls, continuations, errors } = state;
  const reason = `The turn made ${modelCalls} model calls, of which ${errors} failed, and continued ${continuations} times. The limit is maxModelCalls = ${maxModelCalls} of harness().`;
  return { ...planStop(state, at, 'cap', state.step, stop('max-steps', reason)), isFinal: true };
};

const planSteering = ({ turn, step, received }: LoopState, at: number): Plan => {
  const delivers = received.map(({ id }) => id);
  const messages = received.map(({ message }) => message);
  return {
    name: `steering:${delivers.join()}`,
    count: step,
    isForRequest: true,
    delivers,
    events: () => [{ type: 'history.append', turn, at, origin: 'steering', messages, delivers }],
  };
};

const planAfterAnswer = (
  state: LoopState,
  answer: TurnEventOf<'model.response'>,
  context: PlanContext,
  at: number,
): Plan | undefined => {
  const { slots } = state;
  if (!state.answerAppended) return planAppend(state, at, 'response', answerMessages, answer);
  if (slots.size === 0) return planCompletion(state, answer, at);
  if (!slots.areDecided) return planCalls(state, answer, context, at);
  if (!slots.areAnswered) return slots.areDenialsOpen ? planDenied(state, at) : undefined;
  return state.resultsAppended ? undefined : planAppend(state, at, 'results', resultMessages, slots);
};

/** Stops the turn because the model is done. An operator may answer the stop with `turn.continue`. */
const planCompletion = (state: LoopState, answer: TurnEventOf<'model.response'>, at: number): Plan =>
  planStop(state, at, 'completed', state.step, { afterStep: state.step, ...stop('completed', endReason(answer)) });

const planStop = (
  { turn }: LoopState,
  at: number,
  name: string,
  count: number,
  command: NewEventOf<'turn.stop'>,
): Plan => ({ name, count, events: () => [{ turn, at, ...command }] });

const planCalls = (state: LoopState, answer: TurnEventOf<'model.response'>, context: PlanContext, at: number): Plan => {
  const { turn, step, slots } = state;
  const isTruncated = answer.finishReason === 'length';
  if (isTruncated || state.received.length > 0) {
    const reason = isTruncated ? truncatedReason : steeredReason;
    return planResults(state, at, isTruncated ? 'truncated' : 'skip', isOpen, () => skipped(reason));
  }
  return {
    name: 'calls',
    count: step,
    events: () => {
      const definitions = context.definitions();
      return [...slots].flatMap((slot, index): readonly TurnEvent[] => {
        const { call, invalid } = slot;
        if (slot.result || slot.decided) return [];
        if (invalid !== undefined) return [{ type: 'tool.result', turn, at, step, call, ...invalidInput(invalid) }];
        return [{ type: 'tool.call', turn, at, step, index, call: withDefinition(call, definitions) }];
      });
    },
  };
};

const isOpen = (slot: CallSlot): boolean => !slot.result;

/** Answers the denied calls; the tool driver answers the others. */
const planDenied = (state: LoopState, at: number): Plan =>
  planResults(
    state,
    at,
    'denied',
    (slot) => slot.denied !== undefined && !slot.result,
    ({ denied }) => ({
      status: 'denied',
      reason: denied?.reason ?? '',
      ...(denied?.by !== undefined && { by: denied.by }),
      output: { type: 'execution-denied', reason: denied?.reason },
    }),
  );

/** Answers open calls, completes the transcript and ends the turn. */
const planClosing = (state: LoopState, { outcome, reason, error }: TurnEventOf<'turn.stop'>, at: number): Plan =>
  (state.loaded ? planTranscript(state, reason ?? outcome, at) : undefined) ?? {
    name: 'end',
    count: state.step,
    events: () => {
      const undelivered = [
        ...(state.inputAppended ? [] : state.input),
        ...state.received.map(({ message }) => message),
      ];
      return [
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
      ];
    },
  };

/** Keeps the name from before the stop for a plan that is already in the pipeline, so that it is not fed twice. */
const planTranscript = (state: LoopState, reason: string, at: number): Plan | undefined => {
  const { turn, step, attempt, answer, slots } = state;
  if (!state.inputAppended) return planAppend(state, at, 'input', ({ input }) => input, state);
  if (state.asked) {
    const error = { name: 'AbortError', code: 'aborted', message: `The model call was aborted: ${reason}` };
    return {
      name: 'close:request',
      count: step,
      events: () => [{ type: 'model.error', turn, at, step, attempt, error }],
    };
  }
  if (!answer) return undefined;
  if (!state.answerAppended) return planAppend(state, at, 'response', answerMessages, answer);
  if (!slots.areAnswered) {
    const mayHaveRun = slots.areDecided;
    return planResults(state, at, 'close:calls', isOpen, ({ decided, denied }) => ({
      status: 'cancelled',
      reason,
      output: { type: 'error-text', value: `${mayHaveRun && decided && !denied ? cutShort : neverRun} ${reason}` },
    }));
  }
  const owesResults = slots.size > 0 && !state.resultsAppended;
  return owesResults ? planAppend(state, at, 'results', resultMessages, slots) : undefined;
};

/** The results of calls that may have been running when the process died. */
export const interruptedResults = (
  { turn, step }: LoopState,
  slots: readonly CallSlot[],
  at: number,
): readonly TurnEvent[] =>
  slots.map(({ call }) => ({
    type: 'tool.result',
    turn,
    at,
    step,
    call,
    status: 'interrupted',
    reason: 'The process ended while this call may have been running.',
    output: { type: 'error-text', value: interruptedText },
  }));

/** The results of interrupted calls that must not run again. */
export const lostResults = (state: LoopState, at: number): readonly TurnEvent[] =>
  interruptedResults(
    state,
    runnable(state).filter((slot) => !isRepeatable(slot)),
    at,
  );

const planResults = (
  { turn, step, slots }: LoopState,
  at: number,
  name: string,
  isDue: (slot: CallSlot) => boolean,
  outcomeOf: (slot: CallSlot) => ToolOutcome,
): Plan => ({
  name,
  count: step,
  events: () =>
    slots.filter(isDue).map((slot) => ({ type: 'tool.result', turn, at, step, call: slot.call, ...outcomeOf(slot) })),
});

/** @param messagesOf makes the messages from `source` when they are fed */
const planAppend = <Source>(
  { turn, step }: LoopState,
  at: number,
  origin: HistoryOrigin,
  messagesOf: (source: Source) => readonly Message[],
  source: Source,
  count = step,
): Plan => ({
  name: origin,
  count,
  events: () => [{ type: 'history.append', turn, at, origin, messages: messagesOf(source) }],
});

const skipped = (reason: string): ToolOutcome => ({
  status: 'skipped',
  reason,
  output: { type: 'error-text', value: reason },
});

const invalidInput = (issue: string): ToolOutcome => ({
  status: 'invalid-input',
  issues: [issue],
  output: { type: 'error-text', value: `Not run: ${issue}` },
});

const neverRun = 'Cancelled before it ran:';
const cutShort = 'Cancelled while it may have been running; what it had done by then remains done:';
const truncatedReason =
  'Not run: the message with this call was truncated at the output limit. Call the tool again; split a long input into smaller calls.';
const steeredReason = 'Not run: a new message arrived before the call began.';

const endReason = ({ finishReason }: TurnEventOf<'model.response'>): string | undefined =>
  finishReason === 'stop' || finishReason === 'tool-calls'
    ? undefined
    : `The model stopped with the finish reason ${finishReason}.`;
