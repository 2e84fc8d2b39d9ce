import {
  addUsage,
  intercept,
  noUsage,
  textOf,
  type DecideHandlers,
  type ErrorInfo,
  type Handlers,
  type JSONObject,
  type Message,
  type ObserveHandlers,
  type OperatorContext,
  type TurnEvent,
  type TurnEventOf,
  type TurnOperator,
  type TurnOutcome,
} from '@h/turn';
import { ApprovalDesk } from './approvals/desk.js';
import { CallGate } from './call-gate.js';
import { checkSources } from './check-hook.js';
import './events.js';
import { beforeEnd, beforeModel, beforeReply, beforeSteering, beforeTurn, type Ruling } from './gates.js';
import type { HookPoint, HookSource, OnCompactionContext } from './hook.js';
import { ownNote } from './own-note.js';
import { chain } from './maybe.js';
import { settingsOf, type HooksOptions } from './options.js';
import { hookTables, TurnHooks } from './turn-hooks.js';

/**
 * Runs user-defined hooks at fixed points of a turn: gates deny, answer, request approval, change an input or a result,
 * or continue the turn; observers receive notifications.
 *
 * Place it at the beginning of the pipeline, after `queue()`. When a turn is resumed, only `onReplay` receives the
 * recorded events; other handlers receive new events.
 *
 * @param sources - hooks, or functions that create one for every turn. A change to the list applies from the next turn.
 * @throws InvalidOptionError `invalid-option` for an unknown hook point or option, or a value that it does not accept
 *
 * @example
 * ```ts
 * const noFriday: Hook = {
 *   name: 'no-friday',
 *   beforeTool: ({ call, at }) =>
 *     call.name === 'deploy' && new Date(at).getUTCDay() === 5
 *       ? { decision: 'deny', reason: 'Not on a Friday.' }
 *       : undefined,
 * };
 * harness({ model, tools }).pipe(hooks([noFriday]));
 * ```
 */
export const hooks = (sources: readonly HookSource[], options: HooksOptions = {}): TurnOperator => {
  checkSources('hooks()', sources);
  const settings = settingsOf(options);
  const tableOf = hookTables(sources);
  const setup = (operator: OperatorContext): Handlers => {
    const turn = new TurnHooks(operator, tableOf(), settings);
    const desk = new ApprovalDesk(turn, operator, settings);
    const calls = new CallGate(turn, desk, settings.otherwise);
    let sentBack: ReadonlyMap<string, number> = noCounts;
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
        'model.request': ({ tools }) => {
          calls.offered(tools);
          hasAsked = true;
        },
      }),
      ...(has('beforeEnd', 'afterReply') && {
        'model.response': ({ content, usage: used }) => {
          usage = addUsage(usage, used);
          text = textOf({ role: 'assistant', content });
        },
      }),
      'model.error': ({ at, error, usage: used }) => {
        if (used) usage = addUsage(usage, used);
        turn.watch('onError', at, { source: 'model', error });
      },
      ...(gatesTools && { 'tool.call': (event: TurnEventOf<'tool.call'>) => calls.observeCall(event) }),
      'tool.result': (event) => calls.observeResult(event),
      'turn.continue': ({ annotations }) => {
        const by = ownNote(annotations?.['hooks'], 'by');
        if (typeof by === 'string') sentBack = new Map(sentBack).set(by, (sentBack.get(by) ?? 0) + 1);
      },
      'input.received': ({ at, id, message }) => turn.watch('onSteering', at, { id, message }),
      ...(has('onCompaction') && compactionNotices(turn)),
    };

    const decideRequest = (event: TurnEventOf<'model.request'>): Ruling => {
      const gate = hasAsked ? undefined : beforeReply(turn, event);
      return chain(gate, (ruling) => ruling ?? beforeModel(turn, event));
    };

    const decideEnd = (event: TurnEventOf<'turn.end'>): Ruling => {
      const { outcome, reason, error, steps, at } = event;
      const failure = error ?? errorOf(event);
      if (failure) turn.watch('onError', at, { source: 'turn', error: failure });
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
      ...((gatesTools || has('afterTool')) && {
        'tool.result': deciding((event: TurnEventOf<'tool.result'>) => calls.decideResult(event)),
      }),
      ...(has('beforeEnd') && {
        'turn.stop': deciding((event: TurnEventOf<'turn.stop'>) => {
          const isDone = event.outcome === 'completed' && event.afterStep !== undefined;
          return isDone
            ? beforeEnd(turn, event, () => ({ text, usage, messages: turn.messages() }), {
                counts: sentBack,
                max: settings.maxSendBacks,
              })
            : undefined;
        }),
      }),
      'turn.end': deciding(decideEnd),
    };
    return {
      observe: merged(turn.observe, gatesTools || has('onApproval') ? desk.observe : {}, observe, turn.replay),
      decide,
      start: () => turn.start(),
      finalize: () => turn.close(),
    };
  };
  return intercept('hooks', setup, { after: ['queue'], before: ['guardrails', 'policy-guard'] });
};

const noCounts: ReadonlyMap<string, number> = Object.freeze(new Map<string, number>());

/** Outcomes of turns that a limit or an error stopped. */
const failures: ReadonlySet<TurnOutcome> = new Set([
  'error',
  'timed-out',
  'max-steps',
  'budget-exceeded',
  'loop-detected',
]);

/** Creates an error for a turn that a limit stopped: its end has an outcome and a reason, but no error. */
const errorOf = ({ outcome, reason }: TurnEventOf<'turn.end'>): ErrorInfo | undefined =>
  failures.has(outcome)
    ? { name: 'TurnError', code: outcome, message: reason ?? `The turn ended with the outcome ${outcome}.` }
    : undefined;

const phases: readonly OnCompactionContext['phase'][] = ['started', 'done', 'failed'];

/** Observes the notices of `compaction()`. This package does not import their types. */
const compactionNotices = (turn: TurnHooks): ObserveHandlers => {
  const observe = (phase: OnCompactionContext['phase']) => (event: TurnEvent) => {
    const { type: _type, turn: _turn, at, replayed: _replayed, annotations: _annotations, ...details } = event;
    turn.watch('onCompaction', at, { phase, details: details as unknown as JSONObject });
  };
  return Object.fromEntries(phases.map((phase) => [`compaction.${phase}`, observe(phase)]));
};

/** Merges sets of handlers; the handlers of one event run in the order of the sets. */
const merged = (...sets: readonly ObserveHandlers[]): ObserveHandlers => {
  const handlers: Record<string, ((event: TurnEvent) => void) | undefined> = {};
  for (const set of sets) {
    for (const [type, handler] of Object.entries(set) as [string, (event: TurnEvent) => void][]) {
      const before = handlers[type];
      handlers[type] =
        before === undefined
          ? handler
          : (event) => {
              before(event);
              handler(event);
            };
    }
  }
  return handlers;
};
