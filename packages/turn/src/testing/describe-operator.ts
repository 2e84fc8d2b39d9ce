import { describe, it } from 'vitest';
import type { TurnOperator } from '../events.js';
import { operatorChecks, type OperatorCheckOptions } from './operator-checks.js';

/**
 * The conformance suite of operators: every package calls it in its tests.
 *
 * @param factory makes the operator, as its users do
 *
 * @example
 * ```ts
 * describeOperator(() => loopDetect());
 * describeOperator(() => prompt(tiers), { changes: ['model.request'] });
 * ```
 */
export const describeOperator = (factory: () => TurnOperator, options: OperatorCheckOptions = {}): void => {
  describe('keeps the contract of operators', () => {
    for (const { name, check } of operatorChecks) it(name, () => check(factory, options));
  });
};
