import {
  addUsage,
  intercept,
  noUsage,
  textOf,
  type DecideHandlers,
  type Message,
  type ObserveHandlers,
  type TurnEvent,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { ApprovalDesk } from './approvals/desk.js';
import { CallGate } from './call-gate.js';
import { checkSources } from './check-hook.js';
import './events.js';
import { beforeEnd, beforeModel, beforeReply, beforeSteering, beforeTurn, type Ruling } from './gates.js';
import type { HookPoint, HookSource } from './hook.js';
import { ownNote } from './own-note.js';
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
 * @throws InvalidOptionError `invalid-option` for a hook or an option that does not exist, or a value that it does not take
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
    const calls = new CallGate(turn, desk, settings.otherwise);
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
          calls.offered(tools);
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
      'tool.call': (event) => {
        if (event.replayed === true) calls.replay(event);
      },
      'turn.continue': ({ annotations, replayed }) => {
        const by = ownNote(annotations?.['hooks'], 'by');
        if (replayed === true && typeof by === 'string') sentBack.counts.set(by, (sentBack.counts.get(by) ?? 0) + 1);
      },
      'input.received': ({ at, id, message, replayed }) => {
        if (replayed !== true) turn.watch('onSteering', at, { id, message });
      },
    };

    const decideRequest = (event: TurnEventOf<'model.request'>): Ruling => {
      const isFirst = !hasAsked;
      hasAsked = true;
      return chain(isFirst ? beforeReply(turn, event) : undefined, (ruling) => ruling ?? beforeModel(turn, event));
    };

    const decideEnd = (event: TurnEventOf<'turn.end'>): Ruling => {
      const { outcome, reason, error, steps, at } = event;
      if (error) turn.watch('onError', at, { source: 'turn', error });
      turn.watch('afterReply', at, {
        outcome,
        reason,
        error,
        steps,
        text,
        usage: event.usage,
        messages: turn.messages(),
      });
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
      ...(gatesTools && { 'tool.call': deciding((event: TurnEventOf<'tool.call'>) => calls.decide(event)) }),
      ...((gatesTools || has('afterTool', 'onError')) && {
        'tool.result': deciding((event: TurnEventOf<'tool.result'>) => calls.decideResult(event)),
      }),
      ...(has('beforeEnd') && {
        'turn.stop': deciding((event: TurnEventOf<'turn.stop'>) => {
          const isDone = event.outcome === 'completed' && event.afterStep !== undefined;
          return isDone
            ? beforeEnd(turn, event, () => ({ text, usage, messages: turn.messages() }), sentBack)
            : undefined;
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
    for (const [type, handler] of Object.entries(set) as [string, Handler][]) {
      lists.set(type, [...(lists.get(type) ?? []), handler]);
    }
  }
  const one = (handlers: readonly Handler[]): Handler =>
    handlers.length === 1
      ? (handlers[0] as Handler)
      : (event) => {
          for (const handler of handlers) handler(event);
        };
  return Object.fromEntries([...lists].map(([type, handlers]) => [type, one(handlers)]));
};
