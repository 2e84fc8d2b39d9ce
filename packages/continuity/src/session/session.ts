import { notice, toErrorInfo, type NewEvent, type OperatorContext, type TurnEventOf, type UserMessage } from '@h/turn';
import { attemptWith, problem, textOrNothing, type Attempt } from './attempt.js';
import { commitMessage, endNote, unfinishedTask, type Closing } from './closing.js';
import type { ContinuityError } from '../errors.js';
import { isOutage } from '../work/outage.js';
import { OwnClaims } from './own-claims.js';
import { giveBackClaims, releaseClaims } from '../progress/changes.js';
import { beginWork } from '../progress/planning.js';
import { selectTask, type NextTask } from '../progress/select-task.js';
import type { Progress } from '../progress/schema.js';
import type { ContinuitySettings } from '../options.js';
import type { Role } from '../roles.js';
import { stateMessage, type FoundFile } from './state-message.js';
import { countsOf } from './task-text.js';
import { within } from './within.js';
import type { ScriptEnd } from '../workspace-script.js';

/** The additions to a request. */
export interface SessionView {
  readonly role: Role;
  readonly state: UserMessage;
  readonly notices: readonly NewEvent[];
}

/** The result if another session is planning: this one must end, with the reason. */
export interface Waiting {
  readonly waitsFor: string;
  readonly notices: readonly NewEvent[];
}

const maxScriptChars = 2_000;
const maxCheckChars = 4_000;
/** The time to end a script after its time limit. */
const reserveMs = 5_000;

/** The work of one session with the project during one turn. */
export class Session {
  readonly #settings: ContinuitySettings;
  readonly #operator: OperatorContext;
  #id: string | undefined;
  #claims: OwnClaims | undefined;
  #runsScript = false;
  #hasBegun = false;
  #hasShown = false;
  #role: Role | undefined;
  #script: ScriptEnd | undefined;
  #failedChecks = 0;
  #lastCheck: string | undefined;
  #lastDone: string | undefined;

  constructor(settings: ContinuitySettings, operator: OperatorContext) {
    this.#settings = settings;
    this.#operator = operator;
  }

  get role(): Role | undefined {
    return this.#role;
  }

  /** Opens the session. In a fresh session the workspace script runs first. */
  open(id: string, isFresh: boolean): void {
    this.#id = id;
    this.#claims = new OwnClaims(this.#settings.project, id);
    this.#runsScript = isFresh;
  }

  /** Resumes a turn of another process in this role: the workspace script runs again, and the task is claimed again. */
  resume(role: unknown): void {
    const { initializer, worker } = this.#settings;
    this.#hasBegun = true;
    this.#claims?.resume();
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

  /** Returns the additions to the next request. Parts that cannot be read are reported and left out. */
  async view(signal: AbortSignal): Promise<SessionView | Waiting> {
    const { project, notesBytes } = this.#settings;
    const notices: NewEvent[] = [];
    const attempt = attemptWith(notices);
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    await attempt('progress', () => this.#claims?.takeUpAgain(signal));
    const file = await this.#read(notices);
    const progress = file.state === 'ready' ? file.progress : undefined;
    if (progress) this.#claims?.look(progress);
    this.#role ??= this.#roleFor(progress, file.state === 'missing');
    if (this.#isInitializer && (file.state === 'missing' || file.state === 'ready')) {
      const waitsFor = await attempt('progress', () => this.#claims?.planning(signal));
      if (waitsFor !== undefined) {
        // No notes and no commit follow: they would describe the work of another session.
        this.#hasBegun = !isFirst;
        return { waitsFor, notices };
      }
      if (!this.#hasShown) await attempt('script', () => project.script.ensure());
    }
    if (this.#runsScript) await this.#runScript(signal, attempt);
    const next = progress && selectTask(progress, this.#id ?? '', project.clock());
    const pendingRules = (await attempt('rule', () => project.rules.pending()))?.length ?? 0;
    const notes = (await attempt('read', () => project.notes.tail(notesBytes))) ?? 'The notes cannot be read.';
    if (!this.#hasShown) notices.push(this.#stateNotice(file.state, progress, next));
    this.#hasShown = true;
    return {
      role: this.#role,
      state: stateMessage({ file, next, notes, script: this.#script, pendingRules }),
      notices,
    };
  }

  /** Renews the claims. @returns an error if another session has taken over */
  async renew(): Promise<ContinuityError | undefined> {
    return this.#claims?.renew();
  }

  /** Whether `refusal` must be called before anything is changed. */
  get isDoubtful(): boolean {
    return this.#claims?.isDoubtful === true;
  }

  /** Returns why nothing may be changed now. */
  async refusal(signal: AbortSignal): Promise<string | undefined> {
    if (!this.#isInitializer) return this.#claims?.refusal(signal);
    try {
      const reason = await this.#claims?.planning(signal);
      return reason === undefined ? undefined : `${reason} Change nothing more, and end.`;
    } catch (error) {
      return `It is unknown whether another session is planning: ${toErrorInfo(error).message} Try again.`;
    }
  }

  /** Releases the claims, without waiting. */
  abandon(): void {
    if (this.#hasBegun) this.#claims?.abandon();
  }

  /**
   * Writes the notes, releases the claims and commits. Failures are reported and do not prevent the end of the turn.
   */
  async end(event: TurnEventOf<'turn.end'>, signal: AbortSignal): Promise<readonly NewEvent[]> {
    const owner = this.#id;
    if (owner === undefined || !this.#hasBegun) return [];
    const { project, commit } = this.#settings;
    const notices: NewEvent[] = [];
    const attempt = attemptWith(notices);
    const found = await attempt('read', () => project.progress.read());
    const progress = found?.state === 'ready' ? found.progress : undefined;
    if (progress) this.#claims?.look(progress);
    this.#role ??= this.#roleFor(progress, found?.state === 'missing');
    const closing: Closing = {
      end: event,
      owner,
      role: this.#role.name,
      isInitializer: this.#isInitializer,
      progress,
      lastDone: this.#lastDone,
      lost: this.#claims?.lostTask,
    };
    const task = unfinishedTask(closing);
    await attempt('notes', () => project.notes.add({ session: owner, at: event.at, text: endNote(closing) }));
    // If the file could not be read, it may hold claims.
    const mustClose = found === undefined || progress !== undefined;
    const after = mustClose ? await attempt('progress', () => this.#close(event)) : undefined;
    // If the turn ended without waiting for the notes, the next one may be running: a commit would contain its work.
    const made =
      commit &&
      !signal.aborted &&
      (await attempt('commit', async () =>
        textOrNothing(await commit({ session: owner, turn: event.turn, ...commitMessage(closing), signal }), 'commit'),
      ));
    await this.#proposeRule(event, owner, signal, attempt, notices);
    const { done, total } = countsOf(after ?? progress ?? emptyCounts);
    return [
      ...notices,
      notice('continuity.ended', {
        done,
        total,
        ...(task && { task: task.id }),
        ...(typeof made === 'string' && { commit: made }),
      }),
    ];
  }

  get #isInitializer(): boolean {
    return this.#role === this.#settings.initializer;
  }

  async #read(notices: NewEvent[]): Promise<FoundFile> {
    try {
      return await this.#settings.project.progress.read();
    } catch (error) {
      notices.push(problem('read', error));
      return { state: 'unreadable', problem: toErrorInfo(error).message };
    }
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
    this.#script = { ok: false, text: 'The script did not end.' };
    await attempt('script', async () => {
      this.#script = await within(this.#operator, timeoutMs + reserveMs, signal, (inner) =>
        project.script.run(run, { timeoutMs, maxChars: maxScriptChars, signal: inner }),
      );
    });
  }

  #stateNotice(file: FoundFile['state'], progress: Progress | undefined, next: NextTask | undefined): NewEvent {
    const { done, total } = countsOf(progress ?? emptyCounts);
    return notice('continuity.state', {
      role: this.#role?.name ?? '',
      file,
      done,
      total,
      ...(next?.kind === 'task' && { task: next.task.id }),
    });
  }

  /** Releases the claims. A completed first session with a workspace script ends the planning. */
  async #close(end: TurnEventOf<'turn.end'>): Promise<Progress | undefined> {
    const { project } = this.#settings;
    const isCompleted = this.#isInitializer && end.outcome === 'completed';
    const isInitialized = isCompleted && (await project.script.exists().catch(() => false));
    const release = end.outcome === 'cancelled' || isOutage(end) ? giveBackClaims : releaseClaims;
    return this.#claims?.release((progress, owner) => release(isInitialized ? beginWork(progress) : progress, owner));
  }

  async #proposeRule(
    { turn, outcome, reason = '' }: TurnEventOf<'turn.end'>,
    session: string,
    signal: AbortSignal,
    attempt: Attempt,
    notices: NewEvent[],
  ): Promise<void> {
    const { draftRule, project } = this.#settings;
    const failedChecks = this.#failedChecks;
    const hasFailed = failedChecks > 0 || (outcome !== 'completed' && outcome !== 'replied' && outcome !== 'cancelled');
    if (draftRule === undefined || !hasFailed || signal.aborted) return;
    await attempt('rule', async () => {
      const rule = textOrNothing(
        await draftRule(
          {
            session,
            turn,
            outcome,
            reason,
            failedChecks,
            ...(this.#lastCheck !== undefined && { lastCheck: this.#lastCheck }),
          },
          { signal },
        ),
        'draftRule',
      )?.trim();
      if (rule === undefined || rule === '') return;
      const because = [
        `the session ended as ${outcome}${reason === '' ? '' : `: ${reason}`}`,
        ...(failedChecks === 0 ? [] : [`the check failed ${failedChecks === 1 ? 'once' : `${failedChecks} times`}`]),
      ].join('; ');
      const proposed = await project.rules.propose({ rule, because, session });
      if (proposed.outcome === 'proposed') notices.push(notice('continuity.rule-proposed', { id: proposed.id, rule }));
    });
  }
}

const emptyCounts: Pick<Progress, 'tasks'> = { tasks: [] };
