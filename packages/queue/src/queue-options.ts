import type { TurnEventOf, TurnPriority } from '@h/turn';
import { anyFunction, checkOptions, numberFrom, type OptionChecks } from '@h/options';

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
   * Whether the turn with this id is at work although it shows no progress, for instance while a tool with its own
   * deadline runs. Called when a turn has reached its idle timeout; with `true` the timeout starts again. If it throws,
   * the turn is idle.
   *
   * @defaultValue never: a tool without progress is stopped at the idle timeout
   *
   * @example
   * ```ts
   * const isWaiting = (turn: string) =>
   *   agent.running().some((one) => one.turn === turn && one.state === 'waiting-for-tool');
   * queue(lanes, { isAtWork: isWaiting });
   * ```
   */
  readonly isAtWork?: ((turn: string) => boolean) | undefined;
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
  isAtWork: anyFunction,
  idleTimeoutMs: numberFrom(1, Infinity),
  deadlineMs: numberFrom(1, Infinity),
  graceMs: numberFrom(0, Infinity),
  maxWaitMs: numberFrom(0, Infinity),
};

/** @throws InvalidOptionError that names the option, its value and what it accepts */
export const checkQueueOptions = (options: QueueOptions): void => checkOptions('queue()', options, checks);
