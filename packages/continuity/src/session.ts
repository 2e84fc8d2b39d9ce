import { notice, toErrorInfo, type NewEvent, type OperatorContext, type TurnEventOf, type UserMessage } from '@h/turn';
import { attemptWith, problem, textOrNothing, type Attempt } from './attempt.js';
import { claimWatch, type ClaimWatch } from './claim-watch.js';
import { commitMessage, endNote, unfinishedTask, type Closing } from './closing.js';
import { ContinuityError } from './errors.js';
import { beginWork, claimTask, releaseClaims, renewClaims } from './progress/changes.js';
import { isHeld, isReady, selectTask, type NextTask } from './progress/select-task.js';
import type { Progress } from './progress/schema.js';
import type { ContinuitySettings } from './options.js';
import type { Role } from './roles.js';
import { stateMessage, type FoundFile } from './state-message.js';
import { countsOf } from './task-text.js';
import { within } from './within.js';
import type { ScriptEnd } from './workspace-script.js';

/** What a request is shaped with. */
export interface SessionView {
  readonly role: Role;
  readonly state: UserMessage;
  readonly notices: readonly NewEvent[];
}

const maxScriptChars = 2_000;
const maxCheckChars = 4_000;
/** What a runner may take to end a script whose time is up. */
const reserveMs = 5_000;

/** One session's dealings with the project, during one turn. */
export class Session {
  readonly #settings: ContinuitySettings;
  readonly #operator: OperatorContext;
  readonly #watch: ClaimWatch;
  #id: string | undefined;
  #runsScript = false;
  #hasBegun = false;
  #goesOn = false;
  #hasTakenUp = false;
  #hasShown = false;
  #role: Role | undefined;
  #script: ScriptEnd | undefined;
  #failedChecks = 0;
  #lastCheck: string | undefined;
  #lastDone: string | undefined;

  constructor(settings: ContinuitySettings, operator: OperatorContext) {
    this.#settings = settings;
    this.#operator = operator;
    this.#watch = claimWatch(settings.project.clock);
  }

  get role(): Role | undefined {
    return this.#role;
  }

  /** The session is open. A fresh one needs a workspace in order, and so does a turn that goes on in another process. */
  open(id: string, isFresh: boolean): void {
    this.#id = id;
    this.#runsScript = isFresh;
  }

  /** A model call was made in another process, for this role: the workspace is to be put in order again, and the task to be claimed again. */
  goOn(role: unknown): void {
    const { initializer, worker } = this.#settings;
    this.#hasBegun = true;
    this.#goesOn = true;
    this.#runsScript = true;
    this.#role = [initializer, worker].find(({ name }) => name === role);
  }

  learn(event: TurnEventOf<'tool.result'>): void {
    const { call, status } = event;
    if (call.name !== 'task_done') return;
    if (event.status === 'failed') {
      this.#failedChecks += 1;
      this.#lastCheck = event.error.message.slice(-maxCheckChars).toWellFormed();
    }
    if (status === 'ok') this.#lastDone = (call.input as { readonly id?: string } | null)?.id;
  }

  /** What the model is shown now. What cannot be read is told, and the rest is shown without it. */
  async view(signal: AbortSignal): Promise<SessionView> {
    const { project, notesBytes } = this.#settings;
    const notices: NewEvent[] = [];
    const attempt = attemptWith(notices);
    this.#hasBegun = true;
    await attempt('progress', () => this.#takeUpAgain(signal));
    const file = await this.#read(notices);
    const progress = file.state === 'ready' ? file.progress : undefined;
    if (progress && this.#id !== undefined) this.#watch.look(progress, this.#id);
    this.#role ??= this.#roleFor(progress, file.state === 'missing');
    if (!this.#hasShown && this.#role === this.#settings.initializer && (file.state === 'missing' || file.state === 'ready')) {
      await attempt('script', () => project.script.ensure());
    }
    if (this.#runsScript) await this.#runScript(signal, attempt);
    const next = progress && selectTask(progress, this.#id ?? '', project.clock());
    const pendingRules = (await attempt('rule', () => project.rules.pending()))?.length ?? 0;
    const notes = (await attempt('read', () => project.notes.tail(notesBytes))) ?? 'The notes cannot be read.';
    if (!this.#hasShown) notices.push(this.#stateNotice(file.state, progress, next));
    this.#hasShown = true;
    return { role: this.#role, state: stateMessage({ file, next, notes, script: this.#script, pendingRules }), notices };
  }

  /** Tells other sessions that this one is alive. @returns the error where its task was taken up by another one meanwhile */
  async renew(): Promise<ContinuityError | undefined> {
    const { clock, leaseMs, process } = this.#settings.project;
    const owner = this.#id;
    const progress = await this.#changeOwn((current, own) => renewClaims(current, { owner: own, at: clock(), leaseMs, process }));
    if (owner === undefined || progress === undefined || !this.#watch.look(progress, owner)) return undefined;
    return new ContinuityError('claim-lost', `${this.#lostText(progress)} Its lease had run out.`);
  }

  /** Whether `refusal` has to be asked before anything is changed. */
  get isDoubtful(): boolean {
    return (this.#goesOn && !this.#hasTakenUp) || this.#watch.isDoubtful() || this.#watch.lost() !== undefined;
  }

  /** Why nothing may be changed now; nothing where it may. A session whose lease has run out looks first whether the task still is its own. */
  async refusal(signal: AbortSignal): Promise<string | undefined> {
    await this.#takeUpAgain(signal).catch(() => undefined);
    if (this.#watch.isDoubtful()) {
      try {
        await this.renew();
      } catch (error) {
        // Where nobody can read the file, nobody can have taken the task.
        const { code, message } = toErrorInfo(error);
        if (code === 'locked') return `The lease on the task has run out and could not be renewed: ${message} Try again.`;
      }
    }
    const lost = this.#watch.lost();
    return lost === undefined ? undefined : `The lease on the task "${lost}" ran out, and it is no longer this session's. Change nothing more for it: call task_next, and end if there is none.`;
  }

  /** Lets go what it has claimed, without waiting: whoever comes next need not wait for the lease to run out. */
  abandon(): void {
    const owner = this.#id;
    if (!this.#hasBegun || owner === undefined) return;
    // Not only if it holds one now: what is on its way comes before this.
    this.#settings.project.progress.update((progress) => releaseClaims(progress, owner)).catch(() => undefined);
  }

  /** Leaves notes, lets go the claims, commits. What fails is told, and does not keep the turn from ending. */
  async end(event: TurnEventOf<'turn.end'>, signal: AbortSignal): Promise<readonly NewEvent[]> {
    const owner = this.#id;
    if (owner === undefined || !this.#hasBegun) return [];
    const { project, commit, initializer } = this.#settings;
    const notices: NewEvent[] = [];
    const attempt = attemptWith(notices);
    const found = await attempt('read', () => project.progress.read());
    const progress = found?.state === 'ready' ? found.progress : undefined;
    if (progress) this.#watch.look(progress, owner);
    this.#role ??= this.#roleFor(progress, found?.state === 'missing');
    const closing: Closing = { end: event, owner, role: this.#role.name, isInitializer: this.#role === initializer, progress, lastDone: this.#lastDone, lost: this.#watch.lost() };
    const task = unfinishedTask(closing);
    await attempt('notes', () => project.notes.add({ session: owner, at: event.at, text: endNote(closing) }));
    const after = progress === undefined ? undefined : await attempt('progress', () => this.#close(event, owner));
    // A turn that was ended without waiting for the notes may have a successor by now, whose work a commit would catch.
    const made = commit && !signal.aborted && (await attempt('commit', async () => textOrNothing(await commit({ session: owner, turn: event.turn, ...commitMessage(closing), signal }), 'commit')));
    await this.#proposeRule(event, owner, signal, attempt, notices);
    const { done, total } = countsOf(after ?? progress ?? emptyCounts);
    return [...notices, notice('continuity.ended', { done, total, ...(task && { task: task.id }), ...(typeof made === 'string' && { commit: made }) })];
  }

  /** The session's task was let go when its last turn ended, or its process died; it goes on with it. */
  async #takeUpAgain(signal: AbortSignal): Promise<void> {
    const { progress, clock, leaseMs, process } = this.#settings.project;
    const owner = this.#id;
    if (this.#hasTakenUp || owner === undefined) return;
    this.#hasTakenUp = true;
    const own = ({ tasks }: Progress) =>
      tasks.some(({ claim }) => claim?.owner === owner) ? undefined : tasks.find((task) => task.lastOwner === owner && task.status === 'in_progress' && !isHeld(task, clock()) && isReady(task, tasks));
    const found = await progress.read().catch(() => undefined);
    if (found?.state !== 'ready' || own(found.progress) === undefined) return;
    const after = await progress.update((current) => {
      signal.throwIfAborted();
      const task = own(current);
      return task === undefined ? current : claimTask(current, task.id, { owner, at: clock(), leaseMs, process });
    });
    this.#watch.look(after, owner);
  }

  async #read(notices: NewEvent[]): Promise<FoundFile> {
    try {
      return await this.#settings.project.progress.read();
    } catch (error) {
      notices.push(problem('read', error));
      return { state: 'unreadable', problem: toErrorInfo(error).message };
    }
  }

  /** Changes what is this session's own; where it holds nothing, nothing is locked. */
  async #changeOwn(change: (progress: Progress, owner: string) => Progress): Promise<Progress | undefined> {
    const { progress } = this.#settings.project;
    const owner = this.#id;
    const found = await progress.read();
    if (owner === undefined || found.state !== 'ready') return undefined;
    if (!found.progress.tasks.some(({ claim }) => claim?.owner === owner)) return found.progress;
    return progress.update((current) => change(current, owner));
  }

  #lostText({ tasks }: Progress): string {
    const id = this.#watch.lost() ?? '';
    const claim = tasks.find((task) => task.id === id)?.claim;
    return `The task "${id}" is ${claim === undefined ? 'no longer this session’s' : `in the hands of ${claim.owner} by now`}.`;
  }

  #roleFor(progress: Progress | undefined, isMissing: boolean): Role {
    const { role, initializer, worker } = this.#settings;
    if (role !== 'auto') return role === 'initializer' ? initializer : worker;
    return isMissing || progress?.phase === 'initializing' ? initializer : worker;
  }

  async #runScript(signal: AbortSignal, attempt: Attempt): Promise<void> {
    const { project, run, scriptTimeoutMs: timeoutMs } = this.#settings;
    this.#runsScript = false;
    if (run === undefined) return;
    this.#script = { ok: false, text: 'It did not come to its end.' };
    await attempt('script', async () => {
      this.#script = await within(this.#operator, timeoutMs + reserveMs, signal, (inner) => project.script.run(run, { timeoutMs, maxChars: maxScriptChars, signal: inner }));
    });
  }

  #stateNotice(file: FoundFile['state'], progress: Progress | undefined, next: NextTask | undefined): NewEvent {
    const { done, total } = countsOf(progress ?? emptyCounts);
    return notice('continuity.state', { role: this.#role?.name ?? '', file, done, total, ...(next?.kind === 'task' && { task: next.task.id }) });
  }

  /** The claims are let go. A first session that came to its end, with tasks and a workspace script, was the first session. */
  async #close({ outcome }: TurnEventOf<'turn.end'>, owner: string): Promise<Progress> {
    const { project, initializer } = this.#settings;
    const isInitialized = this.#role === initializer && outcome === 'completed' && (await project.script.exists());
    return project.progress.update((progress) => releaseClaims(isInitialized ? beginWork(progress) : progress, owner));
  }

  async #proposeRule({ turn, outcome, reason = '' }: TurnEventOf<'turn.end'>, session: string, signal: AbortSignal, attempt: Attempt, notices: NewEvent[]): Promise<void> {
    const { draftRule, project } = this.#settings;
    const failedChecks = this.#failedChecks;
    const hasFailed = failedChecks > 0 || (outcome !== 'completed' && outcome !== 'replied' && outcome !== 'cancelled');
    if (draftRule === undefined || !hasFailed || signal.aborted) return;
    await attempt('rule', async () => {
      const rule = textOrNothing(await draftRule({ session, turn, outcome, reason, failedChecks, ...(this.#lastCheck !== undefined && { lastCheck: this.#lastCheck }) }, { signal }), 'draftRule')?.trim();
      if (rule === undefined || rule === '') return;
      const because = `${outcome}${reason === '' ? '' : `: ${reason}`}${failedChecks > 0 ? `; the check failed ${failedChecks} times` : ''}`;
      const proposed = await project.rules.propose({ rule, because, session });
      if (proposed.outcome === 'proposed') notices.push(notice('continuity.rule-proposed', { id: proposed.id, rule }));
    });
  }
}

const emptyCounts: Pick<Progress, 'tasks'> = { tasks: [] };
