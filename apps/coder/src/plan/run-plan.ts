import type { ReadStream } from 'node:tty';
import { workThrough, type PlannedSession, type WorkEndReason } from '@h/continuity';
import type { Agent, TurnEvent, TurnOutcome } from '@h/turn';
import { exitCodes, signalExitCodes, type EndSignal } from '../exit-code.js';
import { echo, oneLine } from '../render/printable.js';
import { counted, duration } from '../render/quantity.js';
import { planLines } from '../render/task-lines.js';
import { showTurn, type ShownTurn } from '../run-turn.js';
import { newSession } from '../stored-sessions.js';
import type { Display } from '../streams.js';
import { InputLine } from '../view/input-line.js';
import type { Plan } from './open-plan.js';
import type { PlanUse } from './plan-use.js';
import { reviewRules } from './review-rules.js';
import { Steering } from './steering.js';

const hint = 'Type to steer; /tasks shows the plan, Ctrl-C stops.';

/** Options of {@link runPlan}. */
export interface PlanRun {
  readonly agent: Agent;
  readonly plan: Plan;
  /** Notifies the user's hooks that a session has ended. */
  readonly endSession: (session: string) => Promise<void>;
  /** The stored use of the budget. */
  readonly use: PlanUse | undefined;
  /** The goal of the plan. */
  readonly goal: string;
  readonly maxSessions: number;
  readonly display: Display;
  /** The terminal input. */
  readonly input: ReadStream;
  /** The branch of the plan, if the folder is a git repository. */
  readonly branch: string | undefined;
}

const planExitCodes: Readonly<Record<WorkEndReason | TurnOutcome, number>> = {
  ...exitCodes,
  'all-done': exitCodes.completed,
  'no-progress': exitCodes['loop-detected'],
  'max-sessions': exitCodes['max-steps'],
  'no-tasks': exitCodes.error,
  damaged: exitCodes.error,
  newer: exitCodes.error,
  unavailable: exitCodes.error,
};

/** Works through a plan. Each session starts with an empty context; the first one plans, each later one does a task. */
export const runPlan = ({
  agent,
  plan: { project },
  endSession,
  use,
  goal,
  maxSessions,
  display,
  input,
  branch,
}: PlanRun) => {
  const { view, palette, terminal } = display;
  const questions = terminal?.questions;
  const steering = new Steering(agent);
  const paper = { palette, columns: terminal?.screen.columns ?? Infinity };
  const stopped = new AbortController();
  /** Ends the plan with its budget: no further session could do anything. */
  const over = new AbortController();
  let spentAs: TurnOutcome | undefined;
  let turn: ShownTurn | undefined;
  let interruptedBy: EndSignal | undefined;

  const interrupt = (signal: EndSignal): void => {
    if (interruptedBy === undefined) turn?.cancel(`The process received ${signal}.`);
    else turn?.leave();
    interruptedBy ??= signal;
    stopped.abort();
  };

  const runSession = async ({ session, input: task, number, role, status }: PlannedSession) => {
    view.say(['', palette.bold(`Session ${number} · ${role}`) + palette.dim(` · ${oneLine(status.text)}`)]);
    const show = (event: TurnEvent): void => {
      view.event(event);
      steering.see(event);
    };
    turn = showTurn(agent, { session, input: task, metadata: { plan: true } }, show, terminal?.approver);
    const end = await turn.end;
    await endSession(session);
    const outcome = end?.outcome;
    if (outcome === 'budget-exceeded' || (outcome === 'timed-out' && use?.isTimeOver() === true)) {
      spentAs = outcome;
      over.abort();
    }
    return end ?? { outcome: 'cancelled' as const };
  };

  const enter = (line: string): void => {
    if (line !== '/tasks') {
      steering.add(line);
      return;
    }
    project.status().then(
      (status) => view.say(['', ...planLines(status, paper), '']),
      (error: unknown) => view.say([palette.red(oneLine(String(error)))]),
    );
  };
  const typing =
    terminal?.questions &&
    new InputLine({
      input,
      terminal,
      palette,
      hint: () => hint,
      line: enter,
      interrupt: () => interrupt('SIGINT'),
      // A terminal that closes also sends a signal, which is no second Ctrl-C.
      end: () => {
        if (interruptedBy === undefined) interrupt('SIGINT');
      },
    });

  const toEnd = async (): Promise<number> => {
    typing?.open();
    const { reason, sessions, status } = await workThrough({
      project,
      goal,
      maxSessions,
      signal: AbortSignal.any([stopped.signal, over.signal]),
      nameSession: newSession,
      runSession,
      onOutage: ({ pauseMs, error }) =>
        view.say([
          palette.yellow(
            `! ${oneLine(error?.message ?? 'The provider or the network is unavailable.')} Retrying in ${duration(pauseMs)}.`,
          ),
        ]),
      onWait: ({ text, next }) => {
        const leftMs = next.kind === 'wait' ? Math.max(0, Date.parse(next.until) - project.clock()) : 0;
        const how = `Waiting for up to ${duration(leftMs)}, or longer if the other session renews its claim.`;
        view.say([palette.dim(`${oneLine(text)} ${how}`)]);
      },
    }).finally(() => typing?.close());
    await (interruptedBy === undefined ? use?.forget() : use?.close());
    view.say(steering.waiting.map((line) => palette.dim(`› ${echo(line)} (not delivered: the plan has stopped)`)));
    const ending = interruptedBy === undefined && reason === 'cancelled' ? (spentAs ?? reason) : reason;
    const where = branch === undefined ? '' : ` Its work is on the branch ${branch}.`;
    view.say([
      '',
      ...planLines(status, paper),
      `${palette[reason === 'all-done' ? 'green' : 'yellow'](ending)}${palette.dim(` · ${counted(sessions, 'session')}.${where}`)}`,
    ]);
    if (interruptedBy === undefined) {
      await reviewRules(project.rules, { view, palette, questions, hasLeft: () => stopped.signal.aborted });
    }
    return interruptedBy === undefined ? planExitCodes[ending] : signalExitCodes[interruptedBy];
  };

  return { done: toEnd(), interrupt };
};
