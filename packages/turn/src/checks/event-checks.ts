import {
  anyBoolean,
  anyObject,
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
  showValue,
  type OptionCheck,
} from '@h/options';
import { isJSONObjectFrom } from '../contract/json.js';
import { checked, jsonObject, jsonValue, problemWithValue, shapeOf, variantOf } from './data-checks.js';
import type { ApprovalDecision, TurnEventType } from '../contract/events.js';
import { given, stored, userMessage } from './message-checks.js';

export const finite = numberFrom(-Number.MAX_VALUE);
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
const responseWith = (content: OptionCheck) => ({ content, finishReason, usage });
const responseDetails = {
  invalidCalls: recordOf(anyString),
  id: anyString,
  model: anyString,
  providerMetadata: jsonObject,
};
export const modelResponse = shapeOf(responseWith(given.assistantContent), responseDetails);

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

const artifact = shapeOf({ id: anyString, size: numberFrom(0) }, { mediaType: anyString });
const outcomesWith = (output: OptionCheck): OptionCheck => {
  const outcomeWith = (members: Readonly<Record<string, OptionCheck>> = {}, optional = {}): OptionCheck =>
    shapeOf({ output, ...members }, { durationMs: numberFrom(0), details: jsonValue, ...optional });
  return variantOf('status', {
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
};
export const toolOutcome = outcomesWith(given.toolResultOutput);

const decision = oneOf('once', 'session', 'always', 'deny');
const approvalDecision = objectOf({ decision: required(decision), pattern: anyString, reason: anyString });

/** Checks a decision, which may be its name only. @throws InvalidInputError for any other value */
export const checkDecision = (given: unknown): ApprovalDecision => {
  const whole = typeof given === 'string' ? { decision: given } : given;
  return checked(approvalDecision, whole, 'answer()', 'decision') as ApprovalDecision;
};

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

const ids = arrayOf(anyString);
const step = integerFrom(1);
const call = { step, attempt: step };
const cache = shapeOf({}, { ttl: oneOf('5m', '1h') });

type Checks = Readonly<Record<string, OptionCheck>>;
type Members = Readonly<Record<string, unknown>>;

/** A member of an event. */
interface Member {
  readonly name: string;
  readonly check: OptionCheck;
  readonly isOptional: boolean;
  /** Checks what differs from a valid value, so that a change of a long history costs no more than the change. */
  readonly accepts: (value: unknown, before: unknown) => boolean;
}

/** The members of an event. */
interface Payload {
  readonly members: readonly Member[];
  /** Checks the other members, which are valid in combinations only. */
  readonly variant: OptionCheck | undefined;
}

const envelope = { turn: anyString, at: finite, replayed: oneOf(true) };
const annotations: Member = {
  name: 'annotations',
  check: jsonObject,
  isOptional: true,
  accepts: (value, before) => isJSONObjectFrom(value, before as Members | undefined),
};

/** @param lists - the checks of the items of members that are lists */
const payload = (
  required: Checks,
  { optional = {}, lists = {}, variant }: { optional?: Checks; lists?: Checks; variant?: OptionCheck } = {},
): Payload => {
  const members = Object.entries({ ...envelope, ...optional, ...required }).map(([name, check]): Member => {
    return { name, check, isOptional: !(name in required), accepts: check.accepts };
  });
  for (const [name, item] of Object.entries(lists)) {
    const accepts: Member['accepts'] = (list, before) => areItems(list, before, item);
    members.push({ name, check: arrayOf(item), isOptional: false, accepts });
  }
  members.push(annotations);
  return { members, variant };
};

const outcomeOf = { outcome };
const because = { reason: anyString, error };
const { message } = stored;

/** The members of the events of the loop. Notices have no check. */
const payloadsByType: Partial<Readonly<Record<TurnEventType, Payload>>> = {
  'turn.start': payload(
    { session: anyString, trigger: anyString },
    { lists: { input: userMessage }, optional: { priority, metadata: jsonObject } },
  ),
  'session.loaded': payload(
    { session: anyString, state: recordOf(jsonValue) },
    { lists: { messages: message, repairs: shapeOf({ problem: anyString, index: integerFrom(0) }) } },
  ),
  'model.request': payload(
    { ...call, settings: shapeOf({}, { maxOutputTokens: finite }) },
    {
      lists: {
        messages: message,
        system: shapeOf({ text: anyString }, { cache }),
        tail: message,
        tools: toolDefinition,
      },
      optional: { model: anyString, credential: anyString, cacheMessages: cache },
    },
  ),
  'model.delta': payload({
    ...call,
    delta: shapeOf({ type: oneOf('text', 'reasoning', 'tool-input'), text: anyString }),
  }),
  'model.response': payload({ ...call, ...responseWith(stored.assistantContent) }, { optional: responseDetails }),
  'model.error': payload({ ...call, error }, { optional: { usage, retrying: anyBoolean } }),
  'tool.call': payload(
    { step, index: integerFrom(0), call: toolCall },
    { optional: { denied: shapeOf({ reason: anyString }, { by: anyString }) } },
  ),
  'tool.progress': payload({ step, call: toolCall, progress: jsonValue }),
  'tool.result': payload({ step, call: toolCall }, { variant: outcomesWith(stored.toolResultOutput) }),
  'input.received': payload({ id: anyString, message: userMessage }),
  'approval.request': payload(
    { id: anyString, reason: anyString },
    { optional: { call: toolCall, expiresAt: finite } },
  ),
  'approval.answer': payload({ id: anyString, decision }, { optional: { pattern: anyString, reason: anyString } }),
  'history.append': payload({ origin: anyString }, { lists: { messages: message }, optional: { delivers: ids } }),
  'history.replace': payload({ origin: anyString }, { lists: { messages: message } }),
  'session.state': payload({ key: anyString, value: jsonValue }),
  'turn.continue': payload({ reason: anyString }, { lists: { messages: message } }),
  'turn.stop': payload(outcomeOf, { optional: { ...because, afterStep: integerFrom(0) } }),
  'turn.end': payload(
    { ...outcomeOf, steps: integerFrom(0), usage },
    { optional: { ...because, undelivered: arrayOf(userMessage) } },
  ),
};

export const payloads: ReadonlyMap<string, Payload> = new Map(Object.entries(payloadsByType));

/**
 * Returns the first invalid member of an event that an operator made. Members and items that are those of the event it
 * made it from are valid.
 *
 * @throws whatever a member throws when it is read
 */
export const invalidMember = (event: { readonly type: string }, from: object | undefined): string | undefined => {
  const own = payloads.get(event.type);
  if (own === undefined || event === from) return undefined;
  const made: Members = event;
  const before = (from ?? {}) as Members;
  for (const { name, isOptional, accepts } of own.members) {
    const value = made[name];
    const isKnown = value === before[name] && (from !== undefined || value !== undefined);
    if (!isKnown && !(isOptional && value === undefined) && !accepts(value, before[name])) return name;
  }
  const { variant } = own;
  const isValid = !variant || !(differs(made, before, own) || differs(before, made, own)) || variant.accepts(made);
  return isValid ? undefined : 'outcome';
};

/** Whether one of the members that a variant checks differs. */
const differs = (left: Members, right: Members, own: Payload): boolean => {
  for (const name in left) {
    if (left[name] !== right[name] && !own.members.some((member) => member.name === name)) return true;
  }
  return false;
};

/**
 * Explains why a value is not a valid event; returns nothing if it is one.
 *
 * @param validOf - returns a valid event of a type; its members need no check
 */
export const problemWith = (value: unknown, validOf: (type: string) => object | undefined): string | undefined => {
  let owner = 'a value';
  try {
    if (!isEvent(value)) return `${showValue(value)}, which is not an event`;
    owner = `a ${value.type}`;
    const name = invalidMember(value, validOf(value.type));
    return name === undefined ? undefined : problemWithMember(value, name);
  } catch {
    return `${owner} that throws when it is read`;
  }
};

const isEvent = (value: unknown): value is { readonly type: string } =>
  anyObject.accepts(value) && typeof (value as Members)['type'] === 'string';

/** Explains what is wrong with an invalid member, with its value and what it must be. */
export const problemWithMember = (event: { readonly type: string }, name: string): string => {
  const { members, variant } = payloads.get(event.type) ?? {};
  const check = members?.find((member) => member.name === name)?.check;
  const owner = `an invalid ${event.type}`;
  const problem =
    check === undefined
      ? variant && problemWithValue(event, variant, owner, 'event')
      : problemWithValue((event as unknown as Members)[name], check, owner, name);
  return problem ?? `${owner}: ${JSON.stringify(name)} must not be set to this value`;
};

const areItems = (list: unknown, before: unknown, item: OptionCheck): boolean => {
  if (!isIterable(list)) return false;
  const known = new Set(isIterable(before) ? before : []);
  for (const value of list) if (!known.has(value) && !item.accepts(value)) return false;
  return true;
};

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;
