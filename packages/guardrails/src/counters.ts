/** What was used up. */
export interface Counters {
  readonly steps: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What is known of the cost. */
  readonly cost: number;
  /** Model calls whose cost nobody knows. */
  readonly unpricedCalls: number;
  readonly durationMs: number;
  readonly exceptions: number;
  readonly consecutiveExceptions: number;
  readonly inputChars: number;
  readonly outputChars: number;
  /** Answers with which the model was done, and which no limit had forced. */
  readonly completions: number;
}

/** So much of some things. */
export type Amounts = Partial<Counters>;

export type MutableCounters = { -readonly [Name in keyof Counters]: number };

export const noCounters = (): MutableCounters => ({
  steps: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cost: 0,
  unpricedCalls: 0,
  durationMs: 0,
  exceptions: 0,
  consecutiveExceptions: 0,
  inputChars: 0,
  outputChars: 0,
  completions: 0,
});

const names = Object.keys(noCounters()) as readonly (keyof Counters)[];

/** Adds amounts to counters, in place. */
export const addTo = (counters: MutableCounters, amounts: Amounts, sign: 1 | -1 = 1): void => {
  for (const name in amounts) {
    if (Object.hasOwn(counters, name)) {
      counters[name as keyof Counters] += sign * (amounts[name as keyof Counters] ?? 0);
    }
  }
};

/** What one has more than the other. */
export const difference = (left: Counters, right: Counters): Amounts => {
  const result: MutableCounters = noCounters();
  for (const name of names) result[name] = left[name] - right[name];
  return result;
};

/** Counters from what was stored; what is no number from 0 counts as nothing. */
export const storedCounters = (value: unknown): MutableCounters => {
  const counters = noCounters();
  if (typeof value !== 'object' || value === null) return counters;
  for (const name of names) {
    const stored: unknown = (value as Partial<Record<string, unknown>>)[name];
    if (typeof stored === 'number' && stored >= 0 && stored < Infinity) counters[name] = stored;
  }
  return counters;
};
