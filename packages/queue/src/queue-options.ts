import type { TurnEventOf, TurnPriority } from '@h/turn';
import { aFunction, checkOptions, numberFrom, type OptionChecks } from '@h/turn/options';

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
   * Whether a turn rightly makes no progress, as while a person is asked. Called with the turn's id when it has been idle
   * for too long; `true` begins the idle timeout again.
   *
   * @defaultValue never
   */
  readonly isPaused?: ((turn: string) => boolean) | undefined;
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
  laneOf: aFunction,
  priorityOf: aFunction,
  groupsOf: aFunction,
  isPaused: aFunction,
  idleTimeoutMs: numberFrom(1, Infinity),
  deadlineMs: numberFrom(1, Infinity),
  graceMs: numberFrom(0, Infinity),
  maxWaitMs: numberFrom(0, Infinity),
};

/** @throws InvalidOptionError that names the option, its value and what it takes */
export const checkQueueOptions = (options: QueueOptions): void => checkOptions('queue()', options, checks);
