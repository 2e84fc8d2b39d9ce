import { notice, toErrorInfo, type NewEvent, type OperatorContext, type TurnEventOf, type TurnEvents, type UserMessage } from '@h/turn';
import { beginWork, releaseClaims, renewClaims } from './progress/changes.js';
import { selectTask, type NextTask } from './progress/select-task.js';
import type { Progress } from './progress/schema.js';
import type { ContinuitySettings } from './options.js';
import type { Role } from './roles.js';
import { stateMessage } from './state-message.js';
import { countsOf } from './task-text.js';
import { within } from './within.js';
import type { ScriptEnd } from './workspace-script.js';
import './events.js';

type Problem = TurnEvents['continuity.problem']['what'];

/** What a request is shaped with. */
export interface SessionView {
  readonly role: Role;
  readonly state: UserMessage;
  readonly notices: readonly NewEvent[];
}

const maxScriptChars = 2_000;
/** What a runner may take to end a script whose time is up. */
const reserveMs = 5_000;

/** One session's dealings with the project, during one turn. */
export class Session {
  readonly #settings: ContinuitySettings;
  readonly #operator: OperatorContext;
  #id: string | undefined;
  #runsScript = false;
  #hasBegun = false;
  #role: Role | undefined;
  #script: ScriptEnd | undefined;
  #failedChecks = 0;
  #lastDone: string | undefined;

  constructor(settings: ContinuitySettings, operator: OperatorContext) {
    this.#settings = settings;
    this.#operator = operator;
  }

  get role(): Role | undefined {
    return this.#role;
  }

  /** The session is open. A fresh one needs a workspace in order, and so does a turn that goes on in another process. */
  open(id: string, isFresh: boolean): void {
    this.#id = id;
    this.#runsScript = isFresh;
  }

  /** A model call was made in another process: the workspace is to be put in order again. */
  goOn(): void {
    this.#hasBegun = true;
    this.#runsScript = true;
  }

  learn({ call, status }: TurnEventOf<'tool.result'>): void {
    if (call.name !== 'task_done') return;
    if (status === 'failed') this.#failedChecks += 1;
    if (status === 'ok') this.#lastDone = (call.input as { readonly id?: string } | null)?.id;
  }

  /** What the model is shown now. */
  async view(signal: AbortSignal): Promise<SessionView> {
    const { project, notesBytes } = this.#settings;
    const notices: NewEvent[] = [];
    const isFirst = this.#role === undefined;
    this.#hasBegun = true;
    const file = await project.progress.read();
    this.#role ??= this.#roleFor(file.state === 'ready' ? file.progress : undefined, file.state === 'missing');
    if (isFirst && this.#role === this.#settings.initializer && (file.state === 'missing' || file.state === 'ready')) await project.script.ensure();
    if (this.#runsScript) notices.push(...(await this.#runScript(signal)));
    const next = file.state === 'ready' ? selectTask(file.progress, this.#id ?? '', project.clock()) : undefined;
    const pendingRules = (await project.rules.pending().catch(() => [])).length;
    const notes = await project.notes.tail(notesBytes);
    if (isFirst) notices.push(this.#stateNotice(file.state, file.state === 'ready' ? file.progress : undefined, next));
    return { role: this.#role, state: stateMessage({ file, next, notes, script: this.#script, pendingRules }), notices };
  }

  /** Tells other sessions that this one is alive. */
  async renew(): Promise<void> {
    const { clock, leaseMs, process } = this.#settings.project;
    await this.#changeOwn((progress, owner) => renewClaims(progress, { owner, at: clock(), leaseMs, process }));
  }

  /** Lets go what it has claimed, without waiting: whoever comes next need not wait for the lease to run out. */
  abandon(): void {
    if (this.#hasBegun) this.#changeOwn(releaseClaims).catch(() => undefined);
  }

  /** Leaves notes, lets go the claims, commits. What fails is told, and does not keep the turn from ending. */
  async end(event: TurnEventOf<'turn.end'>, signal: AbortSignal): Promise<readonly NewEvent[]> {
    const owner = this.#id;
    if (owner === undefined || !this.#hasBegun) return [];
    const { project, commit } = this.#settings;
    const notices: NewEvent[] = [];
    const attempt = async <Result>(what: Problem, work: () => PromiseLike<Result> | Result): Promise<Result | undefined> => {
      try {
        return await work();
      } catch (error) {
        notices.push(problem(what, error));
        return undefined;
      }
    };
    const found = await attempt('read', () => project.progress.read());
    const before = found?.state === 'ready' ? found.progress : undefined;
    this.#role ??= this.#roleFor(before, found?.state === 'missing');
    const task = before?.tasks.find(({ claim }) => claim?.owner === owner);
    await attempt('notes', () => project.notes.add({ session: owner, at: event.at, text: this.#endNote(event, before, task?.id) }));
    const after = before === undefined ? undefined : await attempt('progress', () => this.#close(event, owner));
    const message = this.#commitMessage(event, before, task);
    const made = commit && (await attempt('commit', () => commit({ session: owner, turn: event.turn, ...message, signal })));
    const { done, total } = countsOf(after ?? before ?? emptyCounts);
    notices.push(...(await this.#proposeRule(event, owner, signal, attempt)));
    return [...notices, notice('continuity.ended', { done, total, ...(task && { task: task.id }), ...(made !== undefined && { commit: made }) })];
  }

  /** Changes what is this session's own; where it holds nothing, nothing is locked. */
  async #changeOwn(change: (progress: Progress, owner: string) => Progress): Promise<void> {
    const { progress } = this.#settings.project;
    const owner = this.#id;
    const found = await progress.read();
    if (owner === undefined || found.state !== 'ready' || !found.progress.tasks.some(({ claim }) => claim?.owner === owner)) return;
    await progress.update((current) => change(current, owner));
  }

  #roleFor(progress: Progress | undefined, isMissing: boolean): Role {
    const { role, initializer, worker } = this.#settings;
    if (role !== 'auto') return role === 'initializer' ? initializer : worker;
    return isMissing || progress?.phase === 'initializing' ? initializer : worker;
  }

  async #runScript(signal: AbortSignal): Promise<readonly NewEvent[]> {
    const { project, run, scriptTimeoutMs: timeoutMs } = this.#settings;
    this.#runsScript = false;
    if (run === undefined) return [];
    try {
      this.#script = await within(this.#operator, timeoutMs + reserveMs, signal, (inner) => project.script.run(run, { timeoutMs, maxChars: maxScriptChars, signal: inner }));
      return [];
    } catch (error) {
      this.#script = { ok: false, text: toErrorInfo(error).message };
      return [problem('script', error)];
    }
  }

  #stateNotice(file: TurnEvents['continuity.state']['file'], progress: Progress | undefined, next: NextTask | undefined): NewEvent {
    const { done, total } = countsOf(progress ?? emptyCounts);
    return notice('continuity.state', { role: this.#role?.name ?? '', file, done, total, ...(next?.kind === 'task' && { task: next.task.id }) });
  }

  /** The claims are let go. A first session that came to its end, with tasks and a workspace script, was the first session. */
  async #close({ outcome }: TurnEventOf<'turn.end'>, owner: string): Promise<Progress> {
    const { project, initializer } = this.#settings;
    const isInitialized = this.#role === initializer && outcome === 'completed' && (await project.script.exists());
    return project.progress.update((progress) => releaseClaims(isInitialized ? beginWork(progress) : progress, owner));
  }

  #endNote({ outcome, reason, steps }: TurnEventOf<'turn.end'>, progress: Progress | undefined, task: string | undefined): string {
    const { done, total } = countsOf(progress ?? emptyCounts);
    const why = reason === undefined ? '' : ` (${reason.slice(0, 300)})`;
    const what = task === undefined ? '' : ` The task ${task} is not done yet.`;
    return `[${this.#role?.name ?? ''}] Ended as ${outcome}${why} after ${steps} ${steps === 1 ? 'step' : 'steps'}; ${done} of ${total} tasks are done.${what}`;
  }

  #commitMessage({ outcome }: TurnEventOf<'turn.end'>, progress: Progress | undefined, open: { readonly id: string; readonly title: string } | undefined) {
    const isWorkInProgress = open !== undefined || outcome !== 'completed';
    const finished = progress?.tasks.find(({ id }) => id === this.#lastDone);
    const subject = open ?? finished;
    const what = subject === undefined ? (this.#role === this.#settings.initializer ? 'Plan the project' : 'Keep the notes of the session') : `${subject.title} (${subject.id})`;
    return { message: `${isWorkInProgress ? 'WIP: ' : ''}${what}`, isWorkInProgress };
  }

  async #proposeRule(
    { outcome, reason = '' }: TurnEventOf<'turn.end'>,
    session: string,
    signal: AbortSignal,
    attempt: <Result>(what: Problem, work: () => PromiseLike<Result> | Result) => Promise<Result | undefined>,
  ): Promise<readonly NewEvent[]> {
    const { draftRule, project } = this.#settings;
    const failedChecks = this.#failedChecks;
    const hasFailed = failedChecks > 0 || (outcome !== 'completed' && outcome !== 'replied' && outcome !== 'cancelled');
    if (draftRule === undefined || !hasFailed) return [];
    const rule = await attempt('rule', () => draftRule({ session, outcome, reason, failedChecks }, { signal }));
    if (rule === undefined || rule.trim() === '') return [];
    const because = `${outcome}${reason === '' ? '' : `: ${reason}`}${failedChecks > 0 ? `; the check failed ${failedChecks} times` : ''}`;
    const proposed = await attempt('rule', () => project.rules.propose({ rule, because, session }));
    return proposed?.outcome === 'proposed' ? [notice('continuity.rule-proposed', { id: proposed.id, rule })] : [];
  }
}

/** Something of the state that could not be read or written, for observers. */
export const problem = (what: Problem, error: unknown): NewEvent => notice('continuity.problem', { what, error: toErrorInfo(error) });

const emptyCounts: Pick<Progress, 'tasks'> = { tasks: [] };
