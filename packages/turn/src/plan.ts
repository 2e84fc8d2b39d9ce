import { stop } from './decisions.js';
import type { NewEvent, NewEventOf, TurnEventOf } from './events.js';
import { answerMessages, isAnswerAppended, isDecided, resultMessages, withDefinition, type CallSlot, type LoopState } from './loop-state.js';
import type { Message } from './messages.js';
import type { ModelRequest } from './model.js';
import { interruptedText } from './repair.js';
import type { ToolDefinition, ToolOutcome } from './tool.js';

/** What the loop wants to happen next. */
export interface Plan {
  /** Names this wish: while it is on its way through the pipeline, the same wish is not made again. */
  readonly label: string;
  readonly events: readonly NewEvent[];
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
export const planNext = (state: LoopState, context: PlanContext): Plan | undefined => {
  if (state.end) return undefined;
  if (state.stop) return planClosing(state, state.stop);
  if (!state.loaded) return undefined;
  if (!state.inputAppended) return append('input', 'input', state.input);
  if (state.failure) return { label: `stop:${state.step}`, events: [stop('error', state.failure.message, state.failure)] };
  if (state.asked || state.retrying) return undefined;
  return state.answer ? planAfterAnswer(state, state.answer, context) : planRequest(state, context);
};

const planRequest = (state: LoopState, context: PlanContext): Plan => {
  if (state.continuation?.length) return append(`continue:${state.step}`, 'continue', state.continuation);
  if (state.received.length > 0) return planSteering(state);
  if (state.modelCalls >= context.maxModelCalls) {
    const reason = `The turn has made ${state.modelCalls} model calls, which is the option maxModelCalls of harness().`;
    return { label: `cap:${state.step}`, events: [stop('max-steps', reason)] };
  }
  const request: NewEventOf<'model.request'> = {
    ...context.request(),
    type: 'model.request',
    step: state.step,
    attempt: state.attempt + 1,
    messages: state.history,
  };
  return { label: `request:${state.step}:${state.attempt + 1}`, events: [request] };
};

const planSteering = (state: LoopState): Plan => {
  const delivers = state.received.map(({ id }) => id);
  const messages = state.received.map(({ message }) => message);
  return {
    label: `steering:${delivers.join()}`,
    events: [{ type: 'history.append', origin: 'steering', messages, delivers }],
  };
};

const planAfterAnswer = (
  state: LoopState,
  answer: TurnEventOf<'model.response'>,
  context: PlanContext,
): Plan | undefined => {
  if (!isAnswerAppended(state, answer)) return append(`response:${state.step}`, 'response', answerMessages(answer));
  if (state.slots.length === 0) return planCompletion(state.step, answer);
  if (!isDecided(state)) return planCalls(state, answer, context);
  if (state.slots.some((slot) => !slot.result)) return planDenied(state);
  return state.resultsAppended ? undefined : append(`results:${state.step}`, 'results', resultMessages(state.slots));
};

/** The model is done. It is a command like any other, so that an operator can answer `turn.continue`. */
const planCompletion = (step: number, answer: TurnEventOf<'model.response'>): Plan => ({
  label: `completed:${step}`,
  events: [{ ...stop('completed', endReason(answer)), afterStep: step }],
});

const planCalls = (state: LoopState, answer: TurnEventOf<'model.response'>, context: PlanContext): Plan => {
  const open = state.slots.filter((slot) => !slot.result);
  if (answer.finishReason === 'length') return answerAll(state, `cut:${state.step}`, open, () => skipped(truncatedReason));
  if (state.received.length > 0) return answerAll(state, `skip:${state.step}`, open, () => skipped(steeredReason));
  const definitions = context.definitions();
  return {
    label: `calls:${state.step}`,
    events: open
      .filter((slot) => !slot.decided)
      .map(({ call }) => ({
        type: 'tool.call',
        step: state.step,
        index: state.slots.findIndex((slot) => slot.call === call),
        call: withDefinition(call, definitions),
      })),
  };
};

/** The calls that were denied get their results; those that may run are the tool driver's. */
const planDenied = (state: LoopState): Plan | undefined => {
  const denied = state.slots.filter((slot) => slot.denied && !slot.result);
  if (denied.length === 0) return undefined;
  return answerAll(state, `denied:${state.step}`, denied, ({ denied: refusal }) => ({
    status: 'denied',
    reason: refusal?.reason ?? '',
    ...(refusal?.by !== undefined && { by: refusal.by }),
    output: { type: 'execution-denied', reason: refusal?.reason },
  }));
};

/** Answers what is open, completes the transcript and ends. */
const planClosing = (state: LoopState, { outcome, reason, error }: TurnEventOf<'turn.stop'>): Plan => {
  const closing = state.loaded ? planTranscript(state, reason ?? outcome) : undefined;
  if (closing) return closing;
  const undelivered = [...(state.inputAppended ? [] : state.input), ...state.received.map(({ message }) => message)];
  return {
    label: 'end',
    events: [
      {
        type: 'turn.end',
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

const planTranscript = (state: LoopState, reason: string): Plan | undefined => {
  if (!state.inputAppended) return append('close:input', 'input', state.input);
  const { step, attempt, answer } = state;
  if (state.asked) {
    const error = { name: 'AbortError', code: 'aborted', message: `The model call was abandoned: ${reason}` };
    return { label: 'close:request', events: [{ type: 'model.error', step, attempt, error }] };
  }
  if (!answer) return undefined;
  if (!isAnswerAppended(state, answer)) return append('close:response', 'response', answerMessages(answer));
  const open = state.slots.filter((slot) => !slot.result);
  if (open.length > 0) {
    const mayHaveRun = isDecided(state);
    return answerAll(state, 'close:calls', open, ({ decided, denied }) => ({
      status: 'cancelled',
      reason,
      output: { type: 'error-text', value: `${mayHaveRun && decided && !denied ? cutShort : neverRun} ${reason}` },
    }));
  }
  const owesResults = state.slots.length > 0 && !state.resultsAppended;
  return owesResults ? append('close:results', 'results', resultMessages(state.slots)) : undefined;
};

/** The results of the calls that may have run when the process died. */
export const planInterrupted = (state: LoopState, slots: readonly CallSlot[]): Plan =>
  answerAll(state, `interrupted:${state.step}`, slots, () => ({
    status: 'interrupted',
    reason: 'The process ended while this call may have been running.',
    output: { type: 'error-text', value: interruptedText },
  }));

const answerAll = (
  state: LoopState,
  label: string,
  slots: readonly CallSlot[],
  outcomeOf: (slot: CallSlot) => ToolOutcome,
): Plan => ({
  label,
  events: slots.map((slot) => ({ type: 'tool.result', step: state.step, call: slot.call, ...outcomeOf(slot) })),
});

const append = (label: string, origin: string, messages: readonly Message[]): Plan => ({
  label,
  events: [{ type: 'history.append', origin, messages }],
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
  finishReason === 'stop' || finishReason === 'tool-calls' ? undefined : `The model stopped with the finish reason ${finishReason}.`;
