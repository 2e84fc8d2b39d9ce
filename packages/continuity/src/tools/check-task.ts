import type { CheckRunner } from '@h/process';
import { createRedactor } from '@h/redact';
import { endText } from '../check-text.js';
import { isoOf } from '../clock.js';
import { ContinuityError } from '../errors.js';
import type { Project } from '../project.js';
import type { Task, TaskEvidence } from '../progress/schema.js';

/** The end-to-end check of tasks. */
export interface TaskCheck {
  /** The command that must succeed before a task is done. The app sets it, never the model. */
  readonly command: string | ((task: Task) => string);
  /** Runs it: `localChecks()` of `@h/process`, or a sandbox. */
  readonly run: CheckRunner;
  /**
   * The time limit, in milliseconds.
   *
   * @defaultValue `600_000`, enough for the whole test suite of many projects
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Removes secrets from the output, which `agent-progress.json` keeps as evidence and the model reads.
   *
   * @defaultValue `createRedactor().redact` of `@h/redact`
   */
  readonly redact?: ((text: string) => string) | undefined;
}

export const defaultCheckMs = 600_000;
const shownChars = 4_000;
const keptChars = 2_000;

/** Runs the check of a task. @throws ContinuityError `check-failed`, with the output of the check */
export const checkTask = async (
  { command, run, timeoutMs = defaultCheckMs, redact = createRedactor().redact }: TaskCheck,
  task: Task,
  { folder, clock }: Project,
  signal: AbortSignal,
): Promise<NonNullable<TaskEvidence['check']>> => {
  const line = typeof command === 'function' ? command(task) : command;
  const end = await run({ command: line, cwd: folder, timeoutMs, maxChars: shownChars, signal });
  const output = redact(end.output);
  if (end.exitCode === 0 && end.failure === undefined) {
    return {
      command: line.slice(0, 1_000).toWellFormed(),
      exitCode: 0,
      at: isoOf(clock()),
      output: output.slice(-keptChars).toWellFormed(),
    };
  }
  throw new ContinuityError(
    'check-failed',
    `The task "${task.id}" is not done: the end-to-end check \`${line}\` did not pass (${endText({ ...end, output: output.slice(-shownChars) })}).\nRepair that, then call task_done again.`,
  );
};
