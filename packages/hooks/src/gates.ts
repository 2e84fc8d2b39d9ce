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
import type { AnswerOf, Called, DetailsOf, TurnHooks } from './turn-hooks.js';

/** What takes the place of the event that a gate decides on; nothing lets it pass. */
export type Ruling = Maybe<NewEvent | readonly NewEvent[] | undefined>;

/** The reason for the model or the user if a gate failed. */
export const failedReason = (hook: Hook, error: ErrorInfo): string =>
  `The hook ${hook.name} failed, so that this is not allowed: ${error.message}`;

/**
 * Asks the hooks of a point one after the other, until a visitor has what it wants. A gate that fails closed is a
 * denial.
 */
export const ask = <Point extends HookPoint>(
  hooks: TurnHooks,
  point: Point,
  at: number,
  details: () => DetailsOf<Point>,
  visit: (answer: AnswerOf<Point> | { readonly decision: 'deny'; readonly reason: string }, hook: Hook) => boolean,
): Maybe<void> =>
  untilDone(hooks.at(point), (hook) =>
    chain(hooks.call(hook, point, at, details()), (called: Called<Point>): boolean => {
      if ('error' in called) {
        return (
          hooks.isClosed(hook, point) && visit({ decision: 'deny', reason: failedReason(hook, called.error) }, hook)
        );
      }
      return called.answer !== undefined && visit(called.answer, hook);
    }),
  );

/** A message of the harness: stored, but not an input. */
export const internal = (content: string): UserMessage => ({
  role: 'user',
  content,
  metadata: { internal: true, kind: 'hook' },
});

const says = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });

/** Answers instead of the model. */
export const replied = (hook: Hook, text: string): readonly NewEvent[] => [
  { type: 'history.append', origin: 'hooks', messages: [says(text)] },
  stop('replied', `The hook ${hook.name} answered.`),
];

/** Refuses the turn. */
export const blocked = (hooks: TurnHooks, at: number, hook: Hook, point: HookPoint, reason: string): NewEvent => {
  hooks.decided(
    at,
    { kind: 'denied', hook: hook.name, reason },
    notice('hook.denied', { hook: hook.name, point, reason }),
  );
  return stop('blocked', reason);
};

/** The input of a turn, before it joins the history. */
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
      // The loop waits for the input to join the history: it does, without a word.
      if (answer.decision === 'deny') {
        ruling = [{ ...event, messages: [] }, blocked(hooks, event.at, hook, 'beforeTurn', answer.reason)];
      } else if ('reply' in answer) ruling = [event, ...replied(hook, answer.reply)];
      else if ('context' in answer) added.push(answer.context);
      return ruling !== undefined;
    },
  );
  return chain(asked, () => ruling ?? withAdded(event, added));
};

/** What came in while the turn runs, before it joins the history. */
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
        const told = notice('hook.denied', { hook: hook.name, point: 'beforeSteering', reason: answer.reason });
        hooks.decided(event.at, { kind: 'denied', hook: hook.name, reason: answer.reason }, told);
        ruling = { ...event, messages: [] };
      } else if ('context' in answer) added.push(answer.context);
      return ruling !== undefined;
    },
  );
  return chain(asked, () => ruling ?? withAdded(event, added));
};

const withAdded = (event: TurnEventOf<'history.append'>, added: readonly string[]): NewEvent | undefined =>
  added.length === 0 ? undefined : { ...event, messages: [...event.messages, ...added.map(internal)] };

/** The first request of a turn. */
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

/** A request. Each hook receives it as changed by the previous ones. */
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

/** Only what a hook may change: the history and the numbers of a request are the loop's. */
const partsOf = (changes: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(changeable.filter((part) => changes[part] !== undefined).map((part) => [part, changes[part]]));

/** The draft answer of a turn whose model is done. */
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
    const { proceed: words, reason = `The hook ${hook.name} sent it back.` } = answer;
    if (words === undefined) return false;
    const total = [...sentBack.counts.values()].reduce((sum, count) => sum + count, 0);
    const refused = total >= sentBack.max;
    const told = notice('hook.sent-back', { hook: hook.name, reason, count: refused ? total : total + 1, refused });
    if (refused) {
      hooks.tell(told);
      return false;
    }
    hooks.decided(event.at, { kind: 'sent-back', hook: hook.name, reason }, told);
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
