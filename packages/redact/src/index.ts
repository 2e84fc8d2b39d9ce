export {
  createRedactor,
  type RedactionCounts,
  type RedactionStream,
  type Redactor,
  type RedactorOptions,
} from './create-redactor.js';
export { eventRedactor } from './event-redactor.js';
