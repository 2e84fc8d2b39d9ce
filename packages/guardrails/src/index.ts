export { guardrails, type GuardrailsOptions } from './guardrails.js';
