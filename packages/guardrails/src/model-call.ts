import type { CostForecast } from './cost.js';
import type { Reservation } from './budget.js';
import type { Amounts } from './counters.js';

/** What a model call may receive. */
export interface CallRoom {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly outputChars: number;
  readonly cost: CostForecast | undefined;
  /** What is set aside for it in a shared budget, and how many tokens of output that is. */
  readonly reservation: Reservation | undefined;
  readonly reservedTokens: number;
}

/** A model call under way: counts what comes, in the same time for each piece. */
export class ModelCall {
  readonly #room: CallRoom;
  #reserved: number;
  #tokens = 0;
  #chars = 0;
  #state: 'asked' | 'begun' | 'failed' = 'asked';

  constructor(room: CallRoom) {
    this.#room = room;
    this.#reserved = room.reservedTokens;
  }

  /** Counts a piece; `false` when there is no room for it. */
  take(text: string, tokens: number): boolean {
    this.#state = 'begun';
    this.#chars += text.length;
    this.#tokens += tokens;
    if (this.#chars > this.#room.outputChars || this.#tokens > this.#room.outputTokens) return false;
    return (
      this.#room.reservation === undefined ||
      this.#tokens <= this.#reserved ||
      this.#reserveMore(this.#room.reservation)
    );
  }

  /** What the call has used, as far as one can tell without the provider. A call that failed before anything came has used nothing. */
  get estimate(): Amounts {
    if (this.#state === 'failed') return {};
    const { inputTokens, cost } = this.#room;
    const spent = cost === undefined ? {} : { cost: cost.input + cost.perOutputToken * this.#tokens };
    return { inputTokens, outputTokens: Math.ceil(this.#tokens), outputChars: this.#chars, ...spent };
  }

  /** The call failed, and may be made again. What it has used, if it had begun, no longer belongs to it. */
  fail(): Amounts {
    const used = this.#state === 'begun' ? this.estimate : {};
    [this.#tokens, this.#chars, this.#state] = [0, 0, 'failed'];
    return used;
  }

  /** The call is over; what it has used was counted. */
  end(): void {
    this.#room.reservation?.settle();
  }

  #reserveMore(reservation: Reservation): boolean {
    // As much again, so that it is not asked for with each piece; at the very end what this piece needs.
    const needed = this.#tokens - this.#reserved;
    for (const more of [Math.max(this.#reserved, needed), needed]) {
      if (!reservation.grow({ outputTokens: more, cost: more * (this.#room.cost?.perOutputToken ?? 0) })) continue;
      this.#reserved += more;
      return true;
    }
    return false;
  }
}
