import {
  deny,
  intercept,
  stop,
  type Decision,
  type Handlers,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { problem } from './session/attempt.js';
import { settingsOf, type ContinuityOptions } from './options.js';
import { protectionOf } from './protect.js';
import { mayUse } from './roles.js';
import { Session, type SessionView } from './session/session.js';
import { requestShaper, roleIn } from './session/shape-request.js';

/** Tools that change the state. */
const changing: ReadonlySet<string> = new Set([
  'task_plan',
  'task_next',
  'task_done',
  'task_block',
  'note',
  'rule_propose',
]);

/**
 * Gives each session the state of its project, and stores what the session leaves behind.
 *
 * - The state (progress, task with its acceptance criteria, notes) is sent after the history, as data; the role in the
 *   system prompt.
 * - Tools that the role does not have are neither offered nor executed.
 * - Claims of the session are renewed while its turn runs and released at its end: the next session resumes interrupted
 *   tasks.
 * - At the end of a turn, whatever its outcome, the notes get an entry and `commit` is called; if the subscriber
 *   leaves, nothing is
 *   committed.
 * - One session plans at a time. The turn of another one ends as `blocked` before its first model call.
 * - A session whose task was taken over after its lease expired may change nothing until it has claimed the next task.
 *
 * Failures to read or write the state are reported as `continuity.problem`; none of them ends a turn.
 *
 * @throws ContinuityError `invalid-option`
 *
 * @example
 * ```ts
 * harness({ model, tools }).pipe(continuity({ project, run: localChecks() }), git({ repository, autoCommit: true }));
 * ```
 */
export const continuity = (options: ContinuityOptions): TurnOperator => {
  const settings = settingsOf(options);
  const { project } = settings;
  const setup = (operator: OperatorContext): Handlers => {
    const session = new Session(settings, operator);
    const shaped = requestShaper();
    /** The role of the last model call, to continue with it in a resumed turn. */
    let lastCall: { readonly role: unknown } | undefined;
    let view: Omit<SessionView, 'notices'> | undefined;
    let hasEnded = false;
    let stopHeartbeat: (() => void) | undefined;

    const reportLoss = (error: unknown): void => {
      view = undefined;
      if (!hasEnded) operator.emit(problem('lease', error));
    };
    const heartbeat = (): void => {
      stopHeartbeat = operator.after(Math.floor(project.leaseMs / 3), () => {
        heartbeat();
        session.renew().then(
          (lost) => {
            if (lost) reportLoss(lost);
          },
          (error: unknown) => {
            if (!hasEnded) operator.emit(problem('lease', error));
          },
        );
      });
    };

    const shape = async (request: TurnEventOf<'model.request'>, signal: AbortSignal): Promise<Decision> => {
      const { notices, ...found } = await session.view(signal);
      if ('waitsFor' in found) return [...notices, stop('blocked', found.waitsFor)];
      view = found;
      return [...notices, shaped(request, found.role, found.state)];
    };

    const judge = async (event: TurnEventOf<'tool.call'>, signal: AbortSignal): Promise<Decision> => {
      const reason = await session.refusal(signal);
      if (reason !== undefined) view = undefined;
      return reason === undefined ? undefined : deny(event, reason, 'continuity');
    };

    return {
      observe: {
        'session.loaded': ({ session: id, messages }) => {
          session.open(id, messages.length === 0);
        },
        'model.request': ({ annotations }) => {
          lastCall = { role: roleIn(annotations) };
        },
        'tool.result': (event) => {
          session.learn(event);
          if (changing.has(event.call.name)) view = undefined;
        },
      },
      decide: {
        'model.request': (request, { signal }): NewEvent | Promise<Decision> => {
          if (stopHeartbeat === undefined) heartbeat();
          return view === undefined ? shape(request, signal) : shaped(request, view.role, view.state);
        },
        'tool.call': (event, { signal }): Decision | Promise<Decision> => {
          const { role } = session;
          const { call } = event;
          if (event.denied) return undefined;
          if (stopHeartbeat === undefined) heartbeat();
          if (role !== undefined && !mayUse(role, call.name)) {
            return deny(event, `${call.name} is not a tool of the ${role.name}.`, 'continuity');
          }
          const reason = protectionOf(call, settings);
          if (reason !== undefined) return deny(event, reason, 'continuity');
          return call.effect === 'read-only' || changing.has(call.name) || !session.isDoubtful
            ? undefined
            : judge(event, signal);
        },
        'turn.end': async (event, { signal }) => {
          hasEnded = true;
          stopHeartbeat?.();
          return [...(await session.end(event, signal)), event];
        },
      },
      start: () => {
        if (lastCall) session.resume(lastCall.role);
      },
      finalize: () => {
        if (!hasEnded) session.abandon();
      },
    };
  };
  return intercept('continuity', setup, { after: ['failover'], before: ['compaction', 'git'] });
};
