import type { TurnPriority } from '@h/turn';

/** A request as other processes see it. */
export interface SlotRequest {
  readonly session: string;
  readonly priority: TurnPriority;
  /** Whether it precedes all waiting requests of its session. */
  readonly isAhead: boolean;
  /** The groups whose slots it needs as well, with their limits. */
  readonly groups: readonly { readonly name: string; readonly concurrency: number }[];
}

/** What {@link SharedSlots} reports. */
export interface SharedSlotsHost {
  /** A request has a slot, for the first time or again. Its fence stays the same. */
  granted(ticket: number, fence: number): void;
  /** All slots of this process were given to others. The host enters its waiting requests again. */
  lost(): void;
  /** No request can be admitted until a person repairs the cause. The host refuses its waiting requests. */
  failed(error: Error): void;
}

/**
 * Slots that processes share. `createSharedLanes()` asks for them and does everything else.
 *
 * Contract:
 * - One request of a session holds a slot or has lent it, over all processes: the first by arrival, except for those
 *   that are ahead.
 * - Sessions are admitted by the priority of their most urgent request, and those of equal priority by arrival, or by
 *   the time at which the priority was raised. Requests that reclaim their slot precede others of the same priority.
 * - The number of slots and the limits of groups are never exceeded, over all processes.
 * - A process that shows no sign of life for the time of its lease loses its requests and slots.
 * - Methods return at once and never throw. Their order is preserved.
 */
export interface SharedSlots {
  /** Called once, before all other methods. */
  attach(host: SharedSlotsHost): void;
  /** Adds a request. A ticket is used once, except after `lost`. */
  enter(ticket: number, request: SlotRequest): void;
  /** Withdraws a request, or releases its session and its slot. */
  end(ticket: number): void;
  /** Releases the slot, while the session stays held. */
  lend(ticket: number): void;
  /** Requests the slot again. */
  reclaim(ticket: number, priority: TurnPriority): void;
  /** Returns a slot that was granted to a request behind another one of its session. */
  decline(ticket: number): void;
  /** Changes the priority of a waiting request. */
  reprioritize(ticket: number, priority: TurnPriority, isRaised: boolean): void;
  /** Whether granted slots are still those of this process. */
  readonly isHeld: boolean;
}
