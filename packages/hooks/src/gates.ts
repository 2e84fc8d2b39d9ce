import {
  notice,
  proceed,
  stop,
  type ErrorInfo,
  type Message,
  type NewEvent,
  type TurnEventOf,
  type UserMessage,
} from '@h/turn';
import type { Hook, HookPoint } from './hook.js';
import { chain, untilDone, type Maybe } from './maybe.js';
import { turnStopped, type AnswerOf, type Called, type DetailsOf, type TurnHooks } from './turn-hooks.js';

/** The decision of a gate: the events that replace the event, or `undefined` to pass the event unchanged. */
export type Ruling = Maybe<NewEvent | readonly NewEvent[] | undefined>;

/** Returns the reason for a denial after a failure of a gate, for the model or the user. */
export const failedReason = (hook: Hook, error: ErrorInfo): string =>
  `Denied because the hook ${hook.name} failed: ${error.message}`;

/**
 * Calls the hooks of a point one after another until `visit` returns `true`.
 *
 * A hook that fails closed counts as a denial.
 */
export const ask = <Point extends HookPoint>(
  hooks: TurnHooks,
  point: Point,
  at: number,
  details: () => DetailsOf<Point>,
  visit: (answer: AnswerOf<Point> | { readonly decision: 'deny'; readonly reason: string }, hook: Hook) => boolean,
): Maybe<void> =>
  untilDone(hooks.at(point), (hook) => {
    const isTooLate = point === 'beforeTurn' && hooks.isStopped;
    const calling: Maybe<Called<Point>> = isTooLate ? { error: turnStopped } : hooks.call(hook, point, at, details());
    return chain(calling, (called): boolean => {
      if ('error' in called) {
        return (
          hooks.isClosed(hook, point) && visit({ decision: 'deny', reason: failedReason(hook, called.error) }, hook)
        );
      }
      return called.answer !== undefined && visit(called.answer, hook);
    });
  });

/** Creates a user message that is marked as internal. */
export const internal = (content: string): UserMessage => ({
  role: 'user',
  content,
  metadata: { internal: true, kind: 'hook' },
});

const assistantMessage = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });

/** Returns the events that add the reply of a hook to the history and stop the turn. */
export const replied = (hook: Hook, text: string): readonly NewEvent[] => [
  { type: 'history.append', origin: 'hooks', messages: [assistantMessage(text)] },
  stop('replied', `The hook ${hook.name} replied in place of the model.`),
];

/** Records the denial and returns the event that stops the turn as `blocked`. */
export const blocked = (hooks: TurnHooks, at: number, hook: Hook, point: HookPoint, reason: string): NewEvent => {
  hooks.decided(
    at,
    { kind: 'denied', hook: hook.name, reason },
    notice('hook.denied', { hook: hook.name, point, reason }),
  );
  return stop('blocked', reason);
};

/** Runs the `beforeTurn` hooks on the input of a turn, before it is added to the history. */
export const beforeTurn = (
  hooks: TurnHooks,
  event: TurnEventOf<'history.append'>,
  earlier: Iterable<Message>,
): Ruling => {
  const added: string[] = [];
  let ruling: readonly NewEvent[] | undefined;
  const input = event.messages as readonly UserMessage[];
  const asked = ask(
    hooks,
    'beforeTurn',
    event.at,
    () => ({ input, messages: earlier }),
    (answer, hook) => {
      // The loop waits for this append, so an empty append replaces a denied input.
      if (answer.decision === 'deny') {
        const denial = hooks.isStopped ? [] : [blocked(hooks, event.at, hook, 'beforeTurn', answer.reason)];
        ruling = [{ ...event, messages: [] }, ...denial];
      } else if ('reply' in answer) ruling = [event, ...replied(hook, answer.reply)];
      else if ('context' in answer) added.push(answer.context);
      return ruling !== undefined;
    },
  );
  return chain(asked, () => ruling ?? withAdded(event, added));
};

/** Runs the `beforeSteering` hooks on input that arrives during a turn, before it is added to the history. */
export const beforeSteering = (hooks: TurnHooks, event: TurnEventOf<'history.append'>): Ruling => {
  const added: string[] = [];
  let ruling: NewEvent | undefined;
  const input = event.messages as readonly UserMessage[];
  const asked = ask(
    hooks,
    'beforeSteering',
    event.at,
    () => ({ input }),
    (answer, hook) => {
      if (answer.decision === 'deny') {
        const denial = notice('hook.denied', { hook: hook.name, point: 'beforeSteering', reason: answer.reason });
        hooks.decided(event.at, { kind: 'denied', hook: hook.name, reason: answer.reason }, denial);
        ruling = { ...event, messages: [] };
      } else if ('context' in answer) added.push(answer.context);
      return ruling !== undefined;
    },
  );
  return chain(asked, () => ruling ?? withAdded(event, added));
};

const withAdded = (event: TurnEventOf<'history.append'>, added: readonly string[]): NewEvent | undefined =>
  added.length === 0 ? undefined : { ...event, messages: [...event.messages, ...added.map(internal)] };

/** Runs the `beforeReply` hooks on the first request of a turn. */
export const beforeReply = (hooks: TurnHooks, request: TurnEventOf<'model.request'>): Ruling => {
  let ruling: readonly NewEvent[] | undefined;
  const asked = ask(
    hooks,
    'beforeReply',
    request.at,
    () => ({ request }),
    (answer, hook) => {
      if (answer.decision === 'deny') ruling = [blocked(hooks, request.at, hook, 'beforeReply', answer.reason)];
      else if ('reply' in answer) ruling = replied(hook, answer.reply);
      return ruling !== undefined;
    },
  );
  return chain(asked, () => ruling);
};

/** Runs the `beforeModel` hooks on a request; each hook receives the request as changed by the previous hooks. */
export const beforeModel = (hooks: TurnHooks, event: TurnEventOf<'model.request'>): Ruling => {
  let request = event;
  let ruling: readonly NewEvent[] | undefined;
  const asked = ask(
    hooks,
    'beforeModel',
    event.at,
    () => ({ request, attempt: event.attempt }),
    (answer, hook) => {
      if (answer.decision === 'deny') ruling = [blocked(hooks, event.at, hook, 'beforeModel', answer.reason)];
      else if ('reply' in answer) ruling = replied(hook, answer.reply);
      else if ('context' in answer) request = { ...request, tail: [...request.tail, internal(answer.context)] };
      else if ('request' in answer) request = { ...request, ...partsOf(answer.request) };
      return ruling !== undefined;
    },
  );
  return chain(asked, () => ruling ?? (request === event ? undefined : request));
};

const changeable = ['model', 'settings', 'system', 'tail', 'tools'] as const;

/** Returns the parts that a hook can change; the loop owns the history, the step and the attempt of a request. */
const partsOf = (changes: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(changeable.filter((part) => changes[part] !== undefined).map((part) => [part, changes[part]]));

/** Runs the `beforeEnd` hooks on the draft answer of a turn, after the model has finished. */
export const beforeEnd = (
  hooks: TurnHooks,
  event: TurnEventOf<'turn.stop'>,
  draft: () => Pick<DetailsOf<'beforeEnd'>, 'messages' | 'text' | 'usage'>,
  sentBack: { readonly counts: ReadonlyMap<string, number>; readonly max: number },
): Ruling => {
  let ruling: NewEvent | undefined;
  const countOf = ({ name }: Hook): number => sentBack.counts.get(name) ?? 0;
  const visit = (
    answer: AnswerOf<'beforeEnd'> | { readonly decision: 'deny'; readonly reason: string },
    hook: Hook,
  ): boolean => {
    if ('decision' in answer) {
      ruling = blocked(hooks, event.at, hook, 'beforeEnd', answer.reason);
      return true;
    }
    const { proceed: words, reason = `The hook ${hook.name} sent the answer back.` } = answer;
    if (words === undefined) return false;
    const total = [...sentBack.counts.values()].reduce((sum, count) => sum + count, 0);
    const refused = total >= sentBack.max;
    const sent = notice('hook.sent-back', { hook: hook.name, reason, count: refused ? total : total + 1, refused });
    if (refused) {
      hooks.tell(sent);
      return false;
    }
    hooks.decided(event.at, { kind: 'sent-back', hook: hook.name, reason }, sent);
    const messages = typeof words === 'string' ? [internal(words)] : words;
    ruling = { ...proceed(messages, reason), annotations: { hooks: { by: hook.name } } };
    return true;
  };
  const asked = untilDone(hooks.at('beforeEnd'), (hook) =>
    chain(hooks.call(hook, 'beforeEnd', event.at, { ...draft(), sentBack: countOf(hook) }), (called) => {
      if (!('error' in called)) return called.answer !== undefined && visit(called.answer, hook);
      return (
        hooks.isClosed(hook, 'beforeEnd') && visit({ decision: 'deny', reason: failedReason(hook, called.error) }, hook)
      );
    }),
  );
  return chain(asked, () => ruling);
};
