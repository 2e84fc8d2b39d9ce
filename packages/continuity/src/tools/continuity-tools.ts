import { anyFunction, nonEmptyString, anyOf, objectOf, required, integerFrom } from '@h/options';
import { aProject, checkOptions } from '../own-options.js';
import { ContinuityError } from '../errors.js';
import { assertOwn, blockTask, claimNext, completeTask, taskOf } from '../progress/changes.js';
import { claimPlanning, emptyProgress, planTasks } from '../progress/planning.js';
import { readyOrThrow } from '../progress/progress-store.js';
import { selectTask, type NextTask } from '../progress/select-task.js';
import type { Project } from '../project.js';
import { countsOf, nextText } from '../session/task-text.js';
import { checkTask, defaultCheckMs, type TaskCheck } from './check-task.js';
import { inputOf, stringOf, text, type ContinuityTool, type ContinuityToolContext } from './tool-shape.js';

/** Options of {@link continuityTools}. */
export interface ContinuityToolsOptions {
  /** The project whose tasks the tools list, take and finish. */
  readonly project: Project;
  /** The end-to-end check that a task must pass. */
  readonly check: TaskCheck;
}

/** The time to end a check after its time limit. */
const reserveMs = 15_000;

/**
 * Creates the tools with which a model works on a project: `task_next`, `task_done`, `task_block`, `note`,
 * `rule_propose`, and `task_plan` for the first session.
 *
 * Only the session that has claimed a task may change it. `task_done` runs the check; the summary of the model is
 * stored with its result.
 *
 * @throws ContinuityError `invalid-option`
 *
 * @example
 * ```ts
 * const tools = continuityTools({ project, check: { command: 'npm run test:e2e', run: localChecks() } });
 * const driver = toolDriver(createRegistry().register(...tools.map((tool) => defineTool(tool))));
 * ```
 */
export const continuityTools = (options: ContinuityToolsOptions): readonly ContinuityTool[] => {
  checkOptions('continuityTools()', options, {
    project: required(aProject),
    check: required(
      objectOf({
        command: required(anyOf(nonEmptyString, anyFunction)),
        run: required(anyFunction),
        timeoutMs: integerFrom(1),
        redact: anyFunction,
      }),
    ),
  });
  const { project, check } = options;
  return [
    taskNext(project),
    taskDone(project, check),
    taskBlock(project),
    note(project),
    proposeRule(project),
    taskPlan(project),
  ];
};

/** All tools change the files of the project's state and nothing else. */
const shared = { effect: 'local-write', idempotent: true, volatile: true, resources: () => ['continuity:'] } as const;

const taskNext = ({ progress, clock, leaseMs, process }: Project): ContinuityTool => ({
  ...shared,
  name: 'task_next',
  description:
    'Claims the next task for this session and returns it: an interrupted one, or the first that is ready. Call it before you begin to work, and again when a task is done.',
  input: inputOf({}, []),
  run: async (_, { session, signal }) => {
    if ((await progress.read()).state === 'missing') return nextText({ kind: 'no-tasks' });
    const chosen: { next: NextTask } = { next: { kind: 'no-tasks' } };
    await progress.update((current) => {
      // A turn that has ended claims nothing.
      signal.throwIfAborted();
      const at = clock();
      chosen.next = selectTask(current, session, at);
      return claimNext(current, { owner: session, at, leaseMs, process });
    });
    return nextText(chosen.next);
  },
});

const taskDone = (project: Project, check: TaskCheck): ContinuityTool => ({
  ...shared,
  name: 'task_done',
  description: 'Marks the task of this session as done if the end-to-end check passes. Commit your work first.',
  input: inputOf(
    {
      id: text('Id of the task.', 64),
      summary: text('What was done, and how each acceptance criterion was verified.', 4_000),
    },
    ['id', 'summary'],
  ),
  timeoutMs: (check.timeoutMs ?? defaultCheckMs) + reserveMs,
  // The check may read any file, so no other tool may run meanwhile.
  resources: () => undefined,
  run: async (input, { session, signal }) => {
    const { progress, clock } = project;
    const [id, summary] = [stringOf(input['id']), stringOf(input['summary'])];
    const task = taskOf(readyOrThrow(await progress.read(), progress.path), id);
    if (task.status === 'done') return `The task "${id}" is already done.`;
    assertOwn(task, session);
    const passed = await checkTask(check, task, project, signal);
    const after = await progress.update((current) => {
      signal.throwIfAborted();
      return completeTask(current, id, { summary, check: passed }, { owner: session, at: clock() });
    });
    const { done, total } = countsOf(after);
    return `The check passed: the task "${id}" is done, ${done} of ${total}. Note what the next session should know, commit, then call task_next.`;
  },
});

const taskBlock = ({ progress }: Project): ContinuityTool => ({
  ...shared,
  name: 'task_block',
  description:
    'Marks the task of this session as blocked until a person helps, with the reason. Call task_next after that.',
  input: inputOf({ id: text('Id of the task.', 64), reason: text('What is missing, and who can provide it.', 1_000) }, [
    'id',
    'reason',
  ]),
  run: async (input, { session }) => {
    const id = stringOf(input['id']);
    await progress.update((current) => blockTask(current, id, stringOf(input['reason']), { owner: session }));
    return `The task "${id}" is marked as blocked.`;
  },
});

const note = ({ notes, clock }: Project): ContinuityTool => ({
  ...shared,
  name: 'note',
  idempotent: false,
  description:
    'Adds a note for later sessions: decisions with their reasons, failed attempts, where to find things. Notes cannot be changed.',
  input: inputOf({ text: text('The note.', 8_000) }, ['text']),
  run: async (input, { session }: ContinuityToolContext) => {
    await notes.add({ session, text: stringOf(input['text']), at: clock() });
    return 'Noted.';
  },
});

const proposeRule = ({ rules }: Project): ContinuityTool => ({
  ...shared,
  name: 'rule_propose',
  description:
    'Proposes a permanent rule for AGENTS.md after something went wrong that a rule would have prevented. A person reviews it; until then it is not in force.',
  input: inputOf({ rule: text('The rule, in one line.', 500), because: text('What went wrong.', 1_000) }, [
    'rule',
    'because',
  ]),
  run: async (input, { session }) => {
    const { id, outcome } = await rules.propose({
      rule: stringOf(input['rule']),
      because: stringOf(input['because']),
      session,
    });
    return outcome === 'proposed'
      ? `The rule is proposed as ${id}; a person will review it.`
      : 'That rule is already known.';
  },
});

const taskPlan = ({ progress, clock, leaseMs, process }: Project): ContinuityTool => ({
  ...shared,
  name: 'task_plan',
  description:
    'Writes the list of tasks, in the first session only. Each task is small enough for one session and lists the acceptance criteria that it must meet, end to end. A second call replaces the list.',
  input: inputOf(
    {
      goal: text('What the user wants in the end.', 8_000),
      tasks: {
        type: 'array',
        minItems: 1,
        maxItems: 1_000,
        items: inputOf(
          {
            id: {
              type: 'string',
              pattern: String.raw`^[\w.\-]{1,64}$`,
              description: 'A short name, such as "login-form".',
            },
            title: text('The task, in one line.', 200),
            description: { type: 'string', maxLength: 4_000, description: 'Background of the task.' },
            acceptance: {
              type: 'array',
              minItems: 1,
              maxItems: 30,
              items: text('A condition that can be verified.', 500),
            },
            dependsOn: {
              type: 'array',
              maxItems: 50,
              items: { type: 'string' },
              description: 'Ids of tasks that must be done first.',
            },
          },
          ['id', 'title', 'acceptance'],
        ),
      },
    },
    ['goal', 'tasks'],
  ),
  run: async (input, { session, signal }) => {
    const goal = stringOf(input['goal']);
    const tasks = input['tasks'];
    if (!Array.isArray(tasks)) throw new ContinuityError('progress-invalid', '"tasks" must be a list.');
    const planned = await progress.initialize(emptyProgress(goal), (current) => {
      signal.throwIfAborted();
      return { ...planTasks(claimPlanning(current, { owner: session, at: clock(), leaseMs, process }), tasks), goal };
    });
    return `${planned.tasks.length} tasks are planned.`;
  },
});
