export { checkOptions, checkValue, InvalidOptionError, type OptionChecks, type OptionFault } from './check-options.js';
export { nearestName } from './nearest-name.js';
export type { OptionCheck, PartFault } from './option-check.js';
export { either, listOf, objectOf, recordOf } from './parts.js';
export { showValue } from './show-value.js';
export {
  aFlag,
  aFunction,
  aList,
  anObject,
  anyText,
  anything,
  aText,
  instanceOf,
  numberFrom,
  objectWith,
  oneOf,
  required,
  secret,
  wholeFrom,
} from './values.js';
