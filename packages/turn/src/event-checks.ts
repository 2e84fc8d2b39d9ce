import {
  anyBoolean,
  anyString,
  anyValue,
  arrayOf,
  integerFrom,
  nonEmptyString,
  numberFrom,
  objectOf,
  oneOf,
  recordOf,
  required,
  type OptionCheck,
} from '@h/options';
import { checked, jsonObject, jsonValue, shapeOf, variantOf } from './data-checks.js';
import type { TurnEventType } from './events.js';
import { assistantContent, message, toolResultOutput, userMessage } from './message-checks.js';

const finite = numberFrom(-Number.MAX_VALUE);
const tokens = numberFrom(0);
const usage = shapeOf({ input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens, reasoning: tokens });

const error: OptionCheck = shapeOf(
  { name: anyString, message: anyString },
  {
    code: anyString,
    status: finite,
    headers: recordOf(anyString),
    body: jsonValue,
    operator: anyString,
    cause: { expected: 'an error as plain data', accepts: (value) => error.accepts(value) },
  },
);

/** The last output of a model driver whose call failed. */
export const driverError = shapeOf({ error }, { usage });

const finishReason = oneOf('stop', 'length', 'content-filter', 'tool-calls', 'error', 'other');
const response = { content: assistantContent, finishReason, usage };
const responseDetails = {
  invalidCalls: recordOf(anyString),
  id: anyString,
  model: anyString,
  providerMetadata: jsonObject,
};
export const modelResponse = shapeOf(response, responseDetails);

const effect = oneOf('read-only', 'local-write', 'network', 'destructive');
const paths = shapeOf({}, { root: anyString, read: arrayOf(anyString), write: arrayOf(anyString) });
const toolDefinition = shapeOf(
  { name: nonEmptyString, description: anyString, inputSchema: jsonObject },
  { effect, idempotent: anyBoolean, paths, providerOptions: recordOf(jsonObject) },
);
const toolCall = shapeOf(
  { id: anyString, name: anyString },
  { input: anyValue, effect, idempotent: anyBoolean, paths },
);

const outcomeWith = (members: Readonly<Record<string, OptionCheck>> = {}, optional = {}): OptionCheck =>
  shapeOf({ output: toolResultOutput, ...members }, { durationMs: numberFrom(0), details: jsonValue, ...optional });
const artifact = shapeOf({ id: anyString, size: numberFrom(0) }, { mediaType: anyString });
export const toolOutcome = variantOf('status', {
  ok: outcomeWith(),
  stored: outcomeWith({ artifact }),
  failed: outcomeWith({ error }),
  'timed-out': outcomeWith({ timeoutMs: numberFrom(0) }),
  denied: outcomeWith({ reason: anyString }, { by: anyString }),
  'invalid-input': outcomeWith({ issues: arrayOf(anyString) }),
  'unknown-tool': outcomeWith({}, { suggestion: anyString }),
  skipped: outcomeWith({ reason: anyString }),
  cancelled: outcomeWith({ reason: anyString }),
  interrupted: outcomeWith({ reason: anyString }),
});

const decision = oneOf('once', 'session', 'always', 'deny');
export const approvalDecision = objectOf({ decision: required(decision), pattern: anyString, reason: anyString });

export const priority = oneOf('foreground', 'normal', 'background');

const outcome = oneOf(
  'completed',
  'replied',
  'cancelled',
  'timed-out',
  'max-steps',
  'budget-exceeded',
  'loop-detected',
  'blocked',
  'error',
);

const messages = arrayOf(message);
const step = integerFrom(1);
const call = { step, attempt: step };
const cache = shapeOf({}, { ttl: oneOf('5m', '1h') });

/** The payload of each event of the loop. The journal derives the messages of some from earlier records. */
const payloads: Partial<Readonly<Record<TurnEventType, OptionCheck>>> = {
  'turn.start': shapeOf(
    { session: anyString, input: arrayOf(userMessage), trigger: anyString },
    { priority, metadata: jsonObject },
  ),
  'session.loaded': shapeOf({
    session: anyString,
    state: recordOf(jsonValue),
    repairs: arrayOf(shapeOf({ problem: anyString, index: integerFrom(0) })),
  }),
  'model.request': shapeOf(
    {
      ...call,
      system: arrayOf(shapeOf({ text: anyString }, { cache })),
      tail: messages,
      tools: arrayOf(toolDefinition),
      settings: shapeOf({}, { maxOutputTokens: finite }),
    },
    { model: anyString, credential: anyString, cacheMessages: cache },
  ),
  'model.delta': shapeOf({
    ...call,
    delta: shapeOf({ type: oneOf('text', 'reasoning', 'tool-input'), text: anyString }),
  }),
  'model.response': shapeOf({ ...call, ...response }, responseDetails),
  'model.error': shapeOf({ ...call, error }, { usage, retrying: anyBoolean }),
  'tool.call': shapeOf(
    { step, index: integerFrom(0), call: toolCall },
    { denied: shapeOf({ reason: anyString }, { by: anyString }) },
  ),
  'tool.progress': shapeOf({ step, call: toolCall, progress: jsonValue }),
  'tool.result': both(shapeOf({ step, call: toolCall }), toolOutcome),
  'input.received': shapeOf({ id: anyString, message: userMessage }),
  'approval.request': shapeOf({ id: anyString, reason: anyString }, { call: toolCall, expiresAt: finite }),
  'approval.answer': shapeOf({ id: anyString, decision }),
  'history.append': shapeOf({ origin: anyString }, { messages, delivers: arrayOf(anyString) }),
  'history.replace': shapeOf({ origin: anyString, messages }),
  'session.state': shapeOf({ key: anyString, value: jsonValue }),
  'turn.continue': shapeOf({ messages, reason: anyString }),
  'turn.stop': shapeOf({ outcome }, { reason: anyString, error, afterStep: integerFrom(0) }),
  'turn.end': shapeOf(
    { outcome, steps: integerFrom(0), usage },
    { reason: anyString, error, undelivered: arrayOf(userMessage) },
  ),
};

const envelope = shapeOf({ turn: anyString, at: finite }, { replayed: oneOf(true), annotations: jsonObject });

function both(first: OptionCheck, second: OptionCheck): OptionCheck {
  return {
    expected: first.expected,
    accepts: (value) => first.accepts(value) && second.accepts(value),
    faultIn: (value) => (first.accepts(value) ? second : first).faultIn?.(value),
  };
}

/**
 * Checks an event of the loop that was read from a journal. Notices have no check.
 *
 * @throws InvalidInputError that names the record, the path, the value found there and what was expected
 */
export const checkEvent = (event: { readonly type: string }, seq: number): void => {
  const payload = Object.hasOwn(payloads, event.type) ? payloads[event.type as TurnEventType] : undefined;
  if (payload) checked(both(envelope, payload), event, `The ${event.type} of record ${seq}`, 'event');
};
