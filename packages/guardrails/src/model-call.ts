import type { Usage } from '@h/turn';
import type { Reservation } from './budget.js';
import type { Amounts } from './counters.js';

/**
 * What a model call costs. `undefined` says that the price is not known; such a call never counts as free.
 *
 * `model` is the one that answered, as the provider names it, else the one that was asked.
 */
export type CostOf = (usage: Usage, model: string | undefined) => number | undefined;

/** The cost of a call; nothing where it is not known, which is so too where `costOf` throws or says no number from 0. */
export const knownCost = (costOf: CostOf | undefined, usage: Usage, model: string | undefined): number | undefined => {
  let cost: number | undefined;
  try {
    cost = costOf?.(usage, model);
  } catch {
    return undefined;
  }
  return typeof cost === 'number' && cost >= 0 && cost < Infinity ? cost : undefined;
};

/** What the next call will cost: what it sends, and each token that it receives. */
export interface CostForecast {
  readonly input: number;
  readonly perOutputToken: number;
}

const probe = 1000;

/**
 * A forecast for a call that sends so many tokens. What the last call read from or wrote to the cache is taken as read from the cache.
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
