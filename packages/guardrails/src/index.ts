import './events.js';

export { createBudget, type Budget, type BudgetOptions, type Reservation } from './budget.js';
export type { Amounts, Counters } from './counters.js';
export { effectiveLimit } from './limits.js';
export { guardrails } from './guardrails.js';
export { describeLimit, type Allowance, type Limits, type LimitState } from './limits.js';
export type { GuardrailsOptions, WrapUpOptions } from './options.js';
export { guardrailsFromEnv, presets } from './presets.js';
export { repeatedAtSeam } from './truncation-recovery.js';
