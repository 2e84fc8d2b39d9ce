export { CodedError } from './coded-error.js';
export { commandLineProblem } from './command-line.js';
export { checkOptions, checkValue, InvalidOptionError, type OptionChecks, type OptionFault } from './check-options.js';
export { nearestName } from './nearest-name.js';
export type { OptionCheck, PartFault } from './option-check.js';
export { anyOf, arrayOf, objectOf, recordOf } from './parts.js';
export { showValue } from './show-value.js';
export { listenProblem, readProblem } from './system-problem.js';
export { later, realTime, type TimerScheduler } from './timers.js';
export { visibleLine, visibleText } from './visible-text.js';
export {
  anyBoolean,
  anyFunction,
  anyArray,
  anyObject,
  anyRecord,
  anyString,
  anyValue,
  nonEmptyString,
  instanceOf,
  maxTimerMs,
  numberFrom,
  objectWithMethods,
  oneOf,
  required,
  secret,
  integerFrom,
} from './values.js';
