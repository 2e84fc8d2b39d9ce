import { describe, it } from 'vitest';
import type { TurnOperator } from '../contract/events.js';
import { operatorChecks, type OperatorCheckOptions } from './operator-checks.js';

/** The checks play hundreds of turns: on a busy machine they take longer than the 5 s that vitest gives a test. */
const timeout = 60_000;

/**
 * Runs the conformance suite of operators. Call it in the tests of every operator.
 *
 * @param factory makes the operator, as users do
 *
 * @example
 * ```ts
 * describeOperator(() => loopDetect());
 * describeOperator(() => prompt(tiers), { changes: ['model.request'] });
 * ```
 */
export const describeOperator = (factory: () => TurnOperator, options: OperatorCheckOptions = {}): void => {
  describe('keeps the contract of operators', () => {
    for (const { name, check } of operatorChecks) it(name, { timeout }, () => check(factory, options));
  });
};
