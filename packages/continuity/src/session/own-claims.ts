import { toErrorInfo } from '@h/turn';
import { claimWatch, type ClaimWatch } from './claim-watch.js';
import { ContinuityError } from '../errors.js';
import { claimTask, giveBackClaims, holdsClaim, renewClaims, type Claiming } from '../progress/changes.js';
import { claimPlanning, emptyProgress } from '../progress/planning.js';
import type { Progress, Task } from '../progress/schema.js';
import { isHeld, isReady } from '../progress/select-task.js';
import type { Project } from '../project.js';

/** The claims of one session during one turn: its task, or the planning. */
export class OwnClaims {
  readonly #project: Project;
  readonly #owner: string;
  readonly #watch: ClaimWatch;
  #isResumed = false;
  #hasTakenUp = false;
  #hasPlanned = false;

  constructor(project: Project, owner: string) {
    this.#project = project;
    this.#owner = owner;
    this.#watch = claimWatch(project.clock);
  }

  /** Records that the turn began in another process; its claims must be acquired again. */
  resume(): void {
    this.#isResumed = true;
  }

  look(progress: Progress): void {
    this.#watch.look(progress, this.#owner);
  }

  /** Id of the task that another session has taken over. */
  get lostTask(): string | undefined {
    return this.#watch.lost()?.task;
  }

  /** Whether `refusal` must be called before anything is changed. */
  get isDoubtful(): boolean {
    return (this.#isResumed && !this.#hasTakenUp) || this.#watch.isDoubtful() || this.#watch.lost() !== undefined;
  }

  /** Renews the claims. @returns an error if another session has taken over */
  async renew(): Promise<ContinuityError | undefined> {
    const progress = await this.#changeOwn((current) => renewClaims(current, this.#claiming()));
    if (progress === undefined || !this.#watch.look(progress, this.#owner)) return undefined;
    return new ContinuityError('claim-lost', `${this.#lostText(progress)} Its lease had expired.`);
  }

  /** Returns why a worker may change nothing now. If the lease has expired, the claim is renewed first. */
  async refusal(signal: AbortSignal): Promise<string | undefined> {
    await this.takeUpAgain(signal).catch(() => undefined);
    if (this.#watch.isDoubtful()) {
      try {
        await this.renew();
      } catch (error) {
        // If the file cannot be read, no other session can have claimed the task.
        const { code, message } = toErrorInfo(error);
        if (code === 'locked') {
          return `The lease on the task has expired and could not be renewed: ${message} Try again.`;
        }
      }
    }
    const { lostTask } = this;
    return lostTask === undefined
      ? undefined
      : `The lease on the task "${lostTask}" expired, and another session has taken over. Change nothing more for it: call task_next, and end if no task is free.`;
  }

  /**
   * Claims the planning, or confirms the claim. @returns the reason if this session may not plan
   *
   * @throws ContinuityError if the file cannot be changed
   */
  async planning(signal: AbortSignal): Promise<string | undefined> {
    try {
      const after = await this.#project.progress.initialize(emptyProgress(''), (current) => {
        signal.throwIfAborted();
        const { planning } = current;
        const isOwn = planning?.claim?.owner === this.#owner && isHeld(planning, this.#project.clock());
        // After work has begun, a session that never planned is an initializer only by its options.
        return isOwn || (current.phase === 'working' && !this.#hasPlanned && !this.#isResumed)
          ? current
          : claimPlanning(current, this.#claiming());
      });
      this.#hasTakenUp = true;
      this.#hasPlanned ||= after.phase === 'initializing';
      this.#watch.look(after, this.#owner);
      return undefined;
    } catch (error) {
      if (error instanceof ContinuityError && (error.code === 'claim-lost' || error.code === 'already-initialized')) {
        return error.message;
      }
      throw error;
    }
  }

  /** Claims the session's task again: it was released when the last turn ended or its process died. */
  async takeUpAgain(signal: AbortSignal): Promise<void> {
    const { progress, clock } = this.#project;
    if (this.#hasTakenUp) return;
    this.#hasTakenUp = true;
    const own = ({ tasks }: Progress): Task | undefined =>
      tasks.some(({ claim }) => claim?.owner === this.#owner)
        ? undefined
        : tasks.find(
            (task) =>
              task.lastOwner === this.#owner &&
              task.status === 'in_progress' &&
              !isHeld(task, clock()) &&
              isReady(task, tasks),
          );
    const found = await progress.read().catch(() => undefined);
    if (found?.state !== 'ready' || own(found.progress) === undefined) return;
    const after = await progress.update((current) => {
      signal.throwIfAborted();
      const task = own(current);
      return task === undefined ? current : claimTask(current, task.id, this.#claiming());
    });
    this.look(after);
  }

  /** Releases all claims with a change. If the file cannot be written, this process treats them as released. */
  release(change: (progress: Progress, owner: string) => Progress): Promise<Progress> {
    return this.#project.progress.release(this.#owner, (progress) => change(progress, this.#owner));
  }

  /** Releases all claims without waiting, so that other sessions need not wait for the lease to expire. */
  abandon(): void {
    // Also without a claim: one that is still being acquired is queued before this.
    this.release(giveBackClaims).catch(() => undefined);
  }

  #claiming(): Claiming {
    const { clock, leaseMs, process } = this.#project;
    return { owner: this.#owner, at: clock(), leaseMs, process };
  }

  /** Changes the session's own claims; without claims the file is not locked. */
  async #changeOwn(change: (progress: Progress) => Progress): Promise<Progress | undefined> {
    const { progress } = this.#project;
    const found = await progress.read();
    if (found.state !== 'ready') return undefined;
    return holdsClaim(found.progress, this.#owner) ? progress.update(change) : found.progress;
  }

  #lostText({ tasks, planning }: Progress): string {
    const id = this.lostTask;
    const claim = id === undefined ? planning?.claim : tasks.find((task) => task.id === id)?.claim;
    return `${id === undefined ? 'The planning' : `The task "${id}"`} is ${claim === undefined ? 'no longer claimed by this session' : `claimed by ${claim.owner} now`}.`;
  }
}
