import { numberFrom, objectOf, required, type OptionCheck, type OptionChecks } from '@h/options';

/** What was used. */
export interface Counters {
  readonly steps: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The known part of the cost. */
  readonly cost: number;
  /** Model calls with an unknown cost. */
  readonly unpricedCalls: number;
  readonly durationMs: number;
  readonly exceptions: number;
  readonly consecutiveExceptions: number;
  readonly inputChars: number;
  readonly outputChars: number;
  /** Answers with which the model finished, and which no limit forced. */
  readonly completions: number;
}

/** Amounts of some of the counters. */
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

/** The left counters minus the right ones. */
export const difference = (left: Counters, right: Counters): Amounts => {
  const result: MutableCounters = noCounters();
  for (const name of names) result[name] = left[name] - right[name];
  return result;
};

const checksOf = (check: OptionCheck): OptionChecks<Amounts> =>
  Object.fromEntries(names.map((name) => [name, check])) as OptionChecks<Amounts>;

export const amountChecks: OptionChecks<Amounts> = checksOf(numberFrom(0));

/** Accepts counters that were stored, which are complete. */
export const completeCounters: OptionCheck = objectOf(checksOf(required(numberFrom(0))));

/** Counters from stored data; anything but a non-negative number counts as 0. */
export const storedCounters = (value: unknown): MutableCounters => {
  const counters = noCounters();
  if (typeof value !== 'object' || value === null) return counters;
  for (const name of names) {
    const stored: unknown = (value as Partial<Record<string, unknown>>)[name];
    if (typeof stored === 'number' && stored >= 0 && stored < Infinity) counters[name] = stored;
  }
  return counters;
};
