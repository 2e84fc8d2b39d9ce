import { toErrorInfo } from '@h/turn';
import { claimWatch, type ClaimWatch } from './claim-watch.js';
import { ContinuityError } from './errors.js';
import { claimTask, giveBackClaims, holdsClaim, renewClaims, type Claiming } from './progress/changes.js';
import { claimPlanning, emptyProgress } from './progress/planning.js';
import type { Progress, Task } from './progress/schema.js';
import { isHeld, isReady } from './progress/select-task.js';
import type { Project } from './project.js';

/** What one session has claimed, during one turn: its task, or the planning of all of them. */
export class OwnClaims {
  readonly #project: Project;
  readonly #owner: string;
  readonly #watch: ClaimWatch;
  #goesOn = false;
  #hasTakenUp = false;
  #hasPlanned = false;

  constructor(project: Project, owner: string) {
    this.#project = project;
    this.#owner = owner;
    this.#watch = claimWatch(project.clock);
  }

  /** The turn was begun in another process; what it held there is to be claimed again. */
  goOn(): void {
    this.#goesOn = true;
  }

  look(progress: Progress): void {
    this.#watch.look(progress, this.#owner);
  }

  /** Id of the task that is not this session's any more. */
  get lostTask(): string | undefined {
    return this.#watch.lost()?.task;
  }

  /** Whether `refusal` has to be asked before anything is changed. */
  get isDoubtful(): boolean {
    return (this.#goesOn && !this.#hasTakenUp) || this.#watch.isDoubtful() || this.#watch.lost() !== undefined;
  }

  /** Tells other sessions that this one is alive. @returns the error where what it held was taken up by another one meanwhile */
  async renew(): Promise<ContinuityError | undefined> {
    const progress = await this.#changeOwn((current) => renewClaims(current, this.#claiming()));
    if (progress === undefined || !this.#watch.look(progress, this.#owner)) return undefined;
    return new ContinuityError('claim-lost', `${this.#lostText(progress)} Its lease had run out.`);
  }

  /** Why a worker may change nothing now; nothing where it may. One whose lease has run out looks first whether the task still is its own. */
  async refusal(signal: AbortSignal): Promise<string | undefined> {
    await this.takeUpAgain(signal).catch(() => undefined);
    if (this.#watch.isDoubtful()) {
      try {
        await this.renew();
      } catch (error) {
        // Where nobody can read the file, nobody can have taken the task.
        const { code, message } = toErrorInfo(error);
        if (code === 'locked') {
          return `The lease on the task has run out and could not be renewed: ${message} Try again.`;
        }
      }
    }
    const { lostTask } = this;
    return lostTask === undefined
      ? undefined
      : `The lease on the task "${lostTask}" ran out, and it is no longer this session's. Change nothing more for it: call task_next, and end if there is none.`;
  }

  /**
   * Claims the planning, or makes sure of it. @returns why this session may not plan; nothing where it may
   *
   * @throws ContinuityError where the file cannot be changed
   */
  async planning(signal: AbortSignal): Promise<string | undefined> {
    try {
      const after = await this.#project.progress.initialize(emptyProgress(''), (current) => {
        signal.throwIfAborted();
        const { planning } = current;
        const isOwn = planning?.claim?.owner === this.#owner && isHeld(planning, this.#project.clock());
        // Who never planned here is an initializer by its options, after work has begun.
        return isOwn || (current.phase === 'working' && !this.#hasPlanned && !this.#goesOn)
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

  /** The session's task was let go when its last turn ended, or its process died; it goes on with it. */
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

  /** Lets go all claims, without waiting: whoever comes next need not wait for the lease to run out. */
  abandon(): void {
    // Not only if it holds one now: what is on its way comes before this.
    this.#project.progress.update((progress) => giveBackClaims(progress, this.#owner)).catch(() => undefined);
  }

  #claiming(): Claiming {
    const { clock, leaseMs, process } = this.#project;
    return { owner: this.#owner, at: clock(), leaseMs, process };
  }

  /** Changes what is this session's own; where it holds nothing, nothing is locked. */
  async #changeOwn(change: (progress: Progress) => Progress): Promise<Progress | undefined> {
    const { progress } = this.#project;
    const found = await progress.read();
    if (found.state !== 'ready') return undefined;
    return holdsClaim(found.progress, this.#owner) ? progress.update(change) : found.progress;
  }

  #lostText({ tasks, planning }: Progress): string {
    const id = this.lostTask;
    const claim = id === undefined ? planning?.claim : tasks.find((task) => task.id === id)?.claim;
    return `${id === undefined ? 'The planning' : `The task "${id}"`} is ${claim === undefined ? 'no longer this session’s' : `in the hands of ${claim.owner} by now`}.`;
  }
}
