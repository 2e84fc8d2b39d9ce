import { addUsage, intercept, noUsage, textOf, type DecideHandlers, type ErrorInfo, type JSONValue, type Message, type ObserveHandlers, type TurnEvent, type TurnEventOf, type TurnOperator } from '@h/turn';
import { afterTool } from './after-tool.js';
import { ApprovalDesk } from './approvals/desk.js';
import { denied, judge, passed } from './before-tool.js';
import { checkSources } from './check-hook.js';
import './events.js';
import { beforeEnd, beforeModel, beforeReply, beforeSteering, beforeTurn, type Ruling } from './gates.js';
import type { HookPoint, HookSource } from './hook.js';
import { inputCheck } from './input-check.js';
import { chain } from './maybe.js';
import { settingsOf, type HooksOptions } from './options.js';
import { TurnHooks } from './turn-hooks.js';

/**
 * Calls people's own rules at the points of a turn: gates may refuse, answer, ask a person, change an input or a result, and
 * send the turn back to work; observers watch.
 *
 * Belongs at the beginning of the pipeline, behind `queue()`. What later operators say is seen by `lateHooks()`.
 *
 * @param sources hooks, or functions that make a fresh one for every turn. A change to the list counts from the next turn on.
 * @throws TurnError `invalid-option` for a hook or an option that does not exist, or a value that it does not take
 *
 * @example
 * ```ts
 * const noFriday: Hook = {
 *   name: 'no-friday',
 *   beforeTool: ({ call, at }) =>
 *     call.name === 'deploy' && new Date(at).getUTCDay() === 5 ? { decision: 'deny', reason: 'Not on a Friday.' } : undefined,
 * };
 * harness({ model, tools }).pipe(hooks([noFriday]));
 * ```
 */
export const hooks = (sources: readonly HookSource[], options: HooksOptions = {}): TurnOperator => {
  checkSources('hooks()', sources);
  const settings = settingsOf(options);
  return intercept('hooks', (operator) => {
    const turn = new TurnHooks(operator, sources, settings);
    const desk = new ApprovalDesk(turn, operator, settings);
    const inputs = inputCheck();
    const contexts = new Map<string, readonly string[]>();
    const sentBack = { counts: new Map<string, number>(), max: settings.maxSendBacks };
    let earlier: Iterable<Message> = [];
    let usage = noUsage;
    let text = '';
    let hasAsked = false;

    const has = (...points: readonly HookPoint[]): boolean => points.some((point) => turn.at(point).length > 0);
    const gatesModel = has('beforeReply', 'beforeModel');
    const gatesTools = has('beforeTool') || settings.otherwise !== 'allow';

    const observe: ObserveHandlers = {
      'session.loaded': ({ messages }) => {
        earlier = messages;
      },
      ...((gatesModel || gatesTools) && {
        'model.request': ({ tools, replayed }) => {
          inputs.offered(tools);
          if (replayed === true) hasAsked = true;
        },
      }),
      ...(has('beforeEnd', 'afterReply') && {
        'model.response': ({ content, usage: used }) => {
          usage = addUsage(usage, used);
          text = textOf({ role: 'assistant', content });
        },
      }),
      'model.error': ({ at, error, usage: used, replayed }) => {
        if (used) usage = addUsage(usage, used);
        if (replayed !== true) turn.watch('onError', at, { source: 'model', error });
      },
      'tool.call': ({ call, annotations, replayed }) => {
        if (replayed === true) contexts.set(call.id, textsIn(ownNote(annotations?.['hooks'], 'context')));
      },
      'turn.continue': ({ annotations, replayed }) => {
        const by = ownNote(annotations?.['hooks'], 'by');
        if (replayed === true && typeof by === 'string') sentBack.counts.set(by, (sentBack.counts.get(by) ?? 0) + 1);
      },
      'input.received': ({ at, id, message, replayed }) => {
        if (replayed !== true) turn.watch('onSteering', at, { id, message });
      },
    };

    const decideCall = (event: TurnEventOf<'tool.call'>): Ruling =>
      chain(judge(turn, event, inputs.check), (judgement): Ruling => {
        if (judgement.denied) return denied(turn, event, judgement.denied.by, judgement.denied.reason);
        const { call, questions, isAllowed, contexts: added } = judgement;
        if (added.length > 0) contexts.set(call.id, added);
        if (questions.length > 0) return desk.ask(event, call, questions, added);
        if (isAllowed || settings.otherwise === 'allow') return passed(event, call, added);
        if (settings.otherwise === 'deny') return denied(turn, event, 'hooks', `No rule allows the tool ${call.name}.`);
        return desk.ask(event, call, [{ hook: 'hooks', reason: `The agent wants to use the tool ${call.name}.`, patterns: [] }], added);
      });

    const decideResult = (event: TurnEventOf<'tool.result'>): Ruling => {
      const error = errorOf(event);
      if (error) turn.watch('onError', event.at, { source: 'tool', error, call: event.call });
      const added = contexts.get(event.call.id) ?? [];
      contexts.delete(event.call.id);
      return afterTool(turn, event, added);
    };

    const decideRequest = (event: TurnEventOf<'model.request'>): Ruling => {
      const isFirst = !hasAsked;
      hasAsked = true;
      return chain(isFirst ? beforeReply(turn, event) : undefined, (ruling) => ruling ?? beforeModel(turn, event));
    };

    const decideEnd = (event: TurnEventOf<'turn.end'>): Ruling => {
      const { outcome, reason, error, steps, at } = event;
      if (error) turn.watch('onError', at, { source: 'turn', error });
      turn.watch('afterReply', at, { outcome, reason, error, steps, text, usage: event.usage, messages: turn.messages() });
      return chain(turn.settled(), () => undefined);
    };

    const deciding =
      <Event extends TurnEvent>(decide: (event: Event) => Ruling) =>
      (event: Event): Ruling =>
        turn.deciding(event, () => decide(event));

    const decide: DecideHandlers = {
      ...(has('beforeTurn', 'beforeSteering') && {
        'history.append': deciding((event: TurnEventOf<'history.append'>) => {
          if (event.origin === 'input') return beforeTurn(turn, event, earlier);
          return event.origin === 'steering' ? beforeSteering(turn, event) : undefined;
        }),
      }),
      ...(gatesModel && { 'model.request': deciding(decideRequest) }),
      ...(gatesTools && { 'tool.call': deciding((event: TurnEventOf<'tool.call'>) => (event.denied ? undefined : decideCall(event))) }),
      ...((gatesTools || has('afterTool', 'onError')) && { 'tool.result': deciding(decideResult) }),
      ...(has('beforeEnd') && {
        'turn.stop': deciding((event: TurnEventOf<'turn.stop'>) => {
          const isDone = event.outcome === 'completed' && event.afterStep !== undefined;
          return isDone ? beforeEnd(turn, event, () => ({ text, usage, messages: turn.messages() }), sentBack) : undefined;
        }),
      }),
      'turn.end': deciding(decideEnd),
    };
    return {
      observe: merged(turn.observe, gatesTools ? desk.observe : {}, observe, turn.replay),
      decide,
      finalize: () => turn.close(),
    };
  });
};

/** Several sets of handlers as one, each called in its turn. */
export const merged = (...sets: readonly ObserveHandlers[]): ObserveHandlers => {
  type Handler = (event: TurnEvent) => void;
  const lists = new Map<string, Handler[]>();
  for (const set of sets) {
    for (const [type, handler] of Object.entries(set) as [string, Handler][]) lists.set(type, [...(lists.get(type) ?? []), handler]);
  }
  const one = (handlers: readonly Handler[]): Handler => (handlers.length === 1 ? (handlers[0] as Handler) : (event) => {
    for (const handler of handlers) handler(event);
  });
  return Object.fromEntries([...lists].map(([type, handlers]) => [type, one(handlers)]));
};

const errorOf = (event: TurnEventOf<'tool.result'>): ErrorInfo | undefined => {
  if (event.status === 'failed') return event.error;
  if (event.status !== 'timed-out') return undefined;
  return { name: 'TimeoutError', code: 'tool-timeout', message: `The tool ${event.call.name} took longer than ${event.timeoutMs} ms.` };
};

/** What the operator itself has noted on an event. */
const ownNote = (note: JSONValue | undefined, key: string): JSONValue | undefined =>
  typeof note === 'object' && note !== null && key in note ? (note as Readonly<Record<string, JSONValue>>)[key] : undefined;

const textsIn = (value: JSONValue | undefined): readonly string[] => (Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []);
