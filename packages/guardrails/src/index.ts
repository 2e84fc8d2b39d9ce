import './events.js';

export { createBudget, type Budget, type BudgetOptions, type Reservation } from './budget.js';
export type { Amounts, Counters } from './counters.js';
export { effectiveLimit, type ExtendableLimit, type Extension } from './limits.js';
export { guardrails } from './guardrails.js';
export { describeLimit, type Allowance, type LimitName, type Limits, type LimitState } from './limits.js';
export type { GuardrailsOptions, WrapUpOptions } from './options.js';
export { guardrailsFromEnv, presets, type FromEnvOptions, type Preset } from './presets.js';
export { repeatedAtSeam } from './truncation-recovery.js';
