/** How bad it is, from nothing to hopeless. */
export type LoopLevel = 'ok' | 'warn' | 'block' | 'break';

/** What finds loops. `doom-loop` and `repeated-steps` are off unless their options are set. */
export type LoopDetectorName =
  | 'repeat'
  | 'no-progress'
  | 'poll'
  | 'cycle'
  | 'churn'
  | 'unknown-tool'
  | 'breaker'
  | 'doom-loop'
  | 'repeated-steps'
  | 'chanting';

/** What a detector makes of a call. */
export interface LoopVerdict {
  readonly level: LoopLevel;
  /** Who says so; nobody where the level is `ok`. */
  readonly detector: LoopDetectorName | undefined;
  /** For the model: what has been seen, and what to do instead. Empty where the level is `ok`. */
  readonly message: string;
  /** The same for the same loop, so that it is told once and not at every turn of the wheel. */
  readonly key: string;
}

export const fine = (key: string): LoopVerdict => ({ level: 'ok', detector: undefined, message: '', key });

const severity: Readonly<Record<LoopLevel, number>> = { ok: 0, warn: 1, block: 2, break: 3 };

/** The worst of several; of equals the first. */
export const worstOf = (verdicts: readonly (LoopVerdict | undefined)[], otherwise: LoopVerdict): LoopVerdict => {
  let worst = otherwise;
  for (const verdict of verdicts) if (verdict && severity[verdict.level] > severity[worst.level]) worst = verdict;
  return worst;
};
