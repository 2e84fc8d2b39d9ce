import type { TurnEventOf, TurnPriority } from '@h/turn';
import { anyFunction, checkOptions, numberFrom, type OptionChecks } from '@h/options';
import type { Pause } from './contract.js';

/** Options of {@link queue}. */
export interface QueueOptions {
  /**
   * The lane of a turn. Turns of one lane run one after the other; never give two lanes to one session.
   *
   * @defaultValue its session
   */
  readonly laneOf?: ((start: TurnEventOf<'turn.start'>) => string) | undefined;
  /**
   * How urgent a turn is.
   *
   * @defaultValue its own `priority`, else `priorityOf(trigger)`
   */
  readonly priorityOf?: ((start: TurnEventOf<'turn.start'>) => TurnPriority) | undefined;
  /**
   * The keys of a turn for the groups of the lanes, by kind: `{ tenant: 'acme' }`.
   *
   * @defaultValue none
   */
  readonly groupsOf?: ((start: TurnEventOf<'turn.start'>) => Readonly<Record<string, string | undefined>>) | undefined;
  /**
   * Whether the turn with this id is paused.
   *
   * - `true`: it waits for a person. Its slot is lent until it is answered; its session stays held. It resumes once it has a slot
   *   again, which it gets before requests of the same priority that have not begun. The idle timeout starts again.
   * - `'at-work'`: it keeps its slot, as while a tool with its own deadline runs. The idle timeout starts again.
   *
   * Called when a turn has exceeded its idle timeout, and four times a second for holders while another request waits for a slot. If it
   * throws, the turn is not paused.
   *
   * @defaultValue never: an unanswered approval keeps its slot until the idle timeout
   *
   * @example
   * ```ts
   * queue(lanes, { isPaused: (turn) => agent.running().some((one) => one.turn === turn && one.state === 'waiting-for-input') });
   * ```
   */
  readonly isPaused?: ((turn: string) => Pause) | undefined;
  /** @defaultValue that of the lanes */
  readonly idleTimeoutMs?: number | undefined;
  /** @defaultValue that of the lanes */
  readonly deadlineMs?: number | undefined;
  /** @defaultValue that of the lanes */
  readonly graceMs?: number | undefined;
  /** @defaultValue that of the lanes */
  readonly maxWaitMs?: number | undefined;
}

const checks: OptionChecks<QueueOptions> = {
  laneOf: anyFunction,
  priorityOf: anyFunction,
  groupsOf: anyFunction,
  isPaused: anyFunction,
  idleTimeoutMs: numberFrom(1, Infinity),
  deadlineMs: numberFrom(1, Infinity),
  graceMs: numberFrom(0, Infinity),
  maxWaitMs: numberFrom(0, Infinity),
};

/** @throws InvalidOptionError that names the option, its value and what it takes */
export const checkQueueOptions = (options: QueueOptions): void => checkOptions('queue()', options, checks);
