import { TurnError } from '@h/turn';

/**
 * A model cannot be opened. The message names the setting, its value and what to change. Codes: `no-model`,
 * `invalid-model-name`, `unknown-provider`, `missing-key`, `invalid-key` and `invalid-base-url`.
 */
export class ModelError extends TurnError {}
