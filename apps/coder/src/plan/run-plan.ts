import { workThrough, type PlannedSession, type WorkEndReason } from '@h/continuity';
import type { Agent } from '@h/turn';
import { exitCodes, signalExitCodes, type EndSignal } from '../exit-code.js';
import { oneLine } from '../render/printable.js';
import { counted } from '../render/quantity.js';
import { planLines } from '../render/task-lines.js';
import { showTurn, type ShownTurn } from '../run-turn.js';
import { newSession } from '../stored-sessions.js';
import type { Display } from '../streams.js';
import type { Plan } from './open-plan.js';
import { reviewRules } from './review-rules.js';

/** What a plan is worked through with. */
export interface PlanRun {
  readonly agent: Agent;
  readonly plan: Plan;
  /** Tells the user's hooks that a session is over. */
  readonly endSession: (session: string) => Promise<void>;
  /** What the user wants in the end. */
  readonly goal: string;
  readonly maxSessions: number;
  readonly display: Display;
  /** The branch that it works on, where there is one. */
  readonly branch: string | undefined;
}

const planExitCodes: Readonly<Record<WorkEndReason, number>> = {
  'all-done': exitCodes.completed,
  blocked: exitCodes.blocked,
  'no-progress': exitCodes['loop-detected'],
  'max-sessions': exitCodes['max-steps'],
  cancelled: exitCodes.cancelled,
  'no-tasks': exitCodes.error,
  damaged: exitCodes.error,
  newer: exitCodes.error,
};

/** Works through a plan, session after session, each with an empty context: the first one plans, the next ones do a task. */
export const runPlan = ({ agent, plan: { project }, endSession, goal, maxSessions, display, branch }: PlanRun) => {
  const { view, palette, terminal } = display;
  const paper = { palette, columns: terminal?.screen.columns ?? Infinity };
  const stopped = new AbortController();
  let turn: ShownTurn | undefined;
  let interruptedBy: EndSignal | undefined;

  const interrupt = (signal: EndSignal): void => {
    if (interruptedBy === undefined) turn?.cancel(`The process got ${signal}.`);
    else turn?.leave();
    interruptedBy ??= signal;
    stopped.abort();
  };

  const runSession = async ({ session, input, number, role, status }: PlannedSession) => {
    view.say(['', palette.bold(`Session ${number} · ${role}`) + palette.dim(` · ${oneLine(status.text)}`)]);
    turn = showTurn(agent, { session, input, metadata: { plan: true } }, view, terminal?.questions);
    const end = await turn.end;
    await endSession(session);
    return { outcome: end?.outcome ?? ('cancelled' as const) };
  };

  const toEnd = async (): Promise<number> => {
    const { reason, sessions, status } = await workThrough({
      project,
      goal,
      maxSessions,
      signal: stopped.signal,
      nameSession: newSession,
      runSession,
      onWait: ({ text }) => view.say([palette.dim(`${oneLine(text)} Waiting for them.`)]),
    });
    const where = branch === undefined ? '' : ` Its work is on the branch ${branch}.`;
    view.say(['', ...planLines(status, paper), `${palette[reason === 'all-done' ? 'green' : 'yellow'](reason)}${palette.dim(` · ${counted(sessions, 'session')}.${where}`)}`]);
    if (interruptedBy === undefined) await reviewRules(project.rules, { view, palette, questions: terminal?.questions, hasLeft: () => stopped.signal.aborted });
    return interruptedBy === undefined ? planExitCodes[reason] : signalExitCodes[interruptedBy];
  };

  terminal?.questions?.attach({ hold: () => () => undefined, interrupt: () => interrupt('SIGINT') });
  return { done: toEnd(), interrupt };
};
