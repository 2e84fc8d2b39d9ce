import type { CostOf } from '@h/prices';
import type { Usage } from '@h/turn';
import type { Reservation } from './budget.js';
import type { Amounts } from './counters.js';

/** The names of a model. A provider may answer with another name, which a price list does not know. */
export interface ModelNames {
  readonly asked: string | undefined;
  readonly answered: string | undefined;
}

/**
 * The cost of a call by the name in its request, otherwise by the name in its answer; `undefined` if it is unknown, or
 * if `costOf` throws or returns no non-negative number.
 */
export const knownCost = (
  costOf: CostOf | undefined,
  usage: Usage,
  { asked, answered }: ModelNames,
): number | undefined => {
  const cost = costAs(costOf, usage, asked ?? answered);
  return cost === undefined && answered !== undefined && answered !== asked ? costAs(costOf, usage, answered) : cost;
};

const costAs = (costOf: CostOf | undefined, usage: Usage, model: string | undefined): number | undefined => {
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
 * Forecasts the cost of a call with this many input tokens. What the last call read from or wrote to the cache counts
 * as cached.
 */
export const forecastCost = (
  costOf: CostOf | undefined,
  inputTokens: number,
  last: Usage | undefined,
  model: ModelNames,
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
  readonly estimateTokens: (text: string) => number;
  /** The most tokens that a character may count as. `Infinity` if unknown: then every delta is estimated. */
  readonly maxTokensPerChar: number;
}

/** Deltas are estimated together, in pieces of this many characters, while the room is far larger. */
const pieceLength = 64;

/**
 * A model call under way.
 *
 * Counts its output. Tokens are estimated when the characters since the last estimate could exceed the room, or are
 * enough for a piece.
 */
export class ModelCall {
  readonly #room: CallRoom;
  #reserved: number;
  #tokens = 0;
  #chars = 0;
  /** Output whose tokens are not estimated yet. */
  #text = '';
  #state: 'asked' | 'begun' | 'failed' = 'asked';

  constructor(room: CallRoom) {
    this.#room = room;
    this.#reserved = room.reservedTokens;
  }

  /** Counts a delta; returns `false` if it exceeds the room. */
  take(text: string): boolean {
    const { outputChars, outputTokens, reservation } = this.#room;
    this.#state = 'begun';
    this.#chars += text.length;
    this.#text += text;
    if (this.#chars > outputChars) return false;
    const most = reservation === undefined ? outputTokens : Math.min(outputTokens, this.#reserved);
    const mostTokens = this.#tokens + this.#text.length * this.#room.maxTokensPerChar;
    if (mostTokens <= most && this.#text.length < pieceLength) return true;
    this.#measure();
    if (this.#tokens > outputTokens) return false;
    return reservation === undefined || this.#tokens <= this.#reserved || this.#reserveMore(reservation);
  }

  /** The estimated use of the call. A call that failed without output has used nothing. */
  get estimate(): Amounts {
    if (this.#state === 'failed') return {};
    this.#measure();
    const { inputTokens, cost } = this.#room;
    const spent = cost === undefined ? {} : { cost: cost.input + cost.perOutputToken * this.#tokens };
    return { inputTokens, outputTokens: Math.ceil(this.#tokens), outputChars: this.#chars, ...spent };
  }

  /** The estimated use of the call if it fails now. Without output it has used nothing. */
  get failedUse(): Amounts {
    return this.#state === 'begun' ? this.estimate : {};
  }

  /** Records that the call failed and that its use was counted. */
  fail(): void {
    [this.#tokens, this.#chars, this.#text, this.#state] = [0, 0, '', 'failed'];
  }

  /** Ends the call once its use was counted. */
  end(): void {
    this.#room.reservation?.settle();
  }

  #measure(): void {
    if (this.#text === '') return;
    this.#tokens += this.#room.estimateTokens(this.#text);
    this.#text = '';
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
