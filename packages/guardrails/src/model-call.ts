import type { CostOf } from '@h/prices';
import type { Usage } from '@h/turn';
import type { Reservation } from './budget.js';
import type { Amounts } from './counters.js';

/** The cost of a call; `undefined` if it is unknown, or if `costOf` throws or returns no non-negative number. */
export const knownCost = (costOf: CostOf | undefined, usage: Usage, model: string | undefined): number | undefined => {
  let cost: number | undefined;
  try {
    cost = costOf?.(usage, model);
  } catch {
    return undefined;
  }
  return typeof cost === 'number' && cost >= 0 && cost < Infinity ? cost : undefined;
};

/** The forecast cost of a call: of its input, and of each output token. */
export interface CostForecast {
  readonly input: number;
  readonly perOutputToken: number;
}

const probe = 1000;

/**
 * Forecasts the cost of a call with this many input tokens. What the last call read from or wrote to the cache counts as cached.
 */
export const forecastCost = (
  costOf: CostOf | undefined,
  inputTokens: number,
  last: Usage | undefined,
  model: string | undefined,
): CostForecast | undefined => {
  const cached = last === undefined ? 0 : Math.min(inputTokens, last.cacheRead + last.cacheWrite);
  const usage: Usage = { input: inputTokens, cacheRead: cached, cacheWrite: 0, output: 0, reasoning: 0 };
  const input = knownCost(costOf, usage, model);
  const more = knownCost(costOf, { ...usage, output: probe }, model);
  return input === undefined || more === undefined
    ? undefined
    : { input, perOutputToken: Math.max(0, more - input) / probe };
};

/** The output that a model call may produce. */
export interface CallRoom {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly outputChars: number;
  readonly cost: CostForecast | undefined;
  /** The reservation in a shared budget, and its share of output tokens. */
  readonly reservation: Reservation | undefined;
  readonly reservedTokens: number;
}

/** A model call under way. Counts its output, in constant time per delta. */
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

  /** Counts a delta; returns `false` if it exceeds the room. */
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

  /** The estimated use of the call. A call that failed without output has used nothing. */
  get estimate(): Amounts {
    if (this.#state === 'failed') return {};
    const { inputTokens, cost } = this.#room;
    const spent = cost === undefined ? {} : { cost: cost.input + cost.perOutputToken * this.#tokens };
    return { inputTokens, outputTokens: Math.ceil(this.#tokens), outputChars: this.#chars, ...spent };
  }

  /** Records that the call failed. Returns what it had used, which is then no longer part of its estimate. */
  fail(): Amounts {
    const used = this.#state === 'begun' ? this.estimate : {};
    [this.#tokens, this.#chars, this.#state] = [0, 0, 'failed'];
    return used;
  }

  /** Ends the call once its use was counted. */
  end(): void {
    this.#room.reservation?.settle();
  }

  #reserveMore(reservation: Reservation): boolean {
    // Doubles the reservation, so that not every delta needs one; if that is too much, reserves what this delta needs.
    const needed = this.#tokens - this.#reserved;
    for (const more of [Math.max(this.#reserved, needed), needed]) {
      if (!reservation.grow({ outputTokens: more, cost: more * (this.#room.cost?.perOutputToken ?? 0) })) continue;
      this.#reserved += more;
      return true;
    }
    return false;
  }
}
