import {
  anyBoolean,
  anyString,
  nonEmptyString,
  anyObject,
  checkOptions,
  checkValue,
  numberFrom,
  objectWithMethods,
  oneOf,
  recordOf,
  required,
  type OptionChecks,
} from '@h/options';
import type { LaneListener, LaneRequest } from './contract.js';

const priorities = ['foreground', 'normal', 'background'];

/** What the fields of a request take that `run()` has too. */
export const requestChecks = {
  priority: oneOf(...priorities),
  trigger: nonEmptyString,
  groups: recordOf(nonEmptyString),
  label: nonEmptyString,
  idleTimeoutMs: numberFrom(1, Infinity),
  deadlineMs: numberFrom(1, Infinity),
  graceMs: numberFrom(0, Infinity),
  maxWaitMs: numberFrom(0, Infinity),
  within: anyObject,
};

const checks: OptionChecks<LaneRequest> = {
  ...requestChecks,
  session: required(nonEmptyString),
  summary: anyString,
  ahead: anyBoolean,
};

/** @throws InvalidOptionError that names the field, its value and what it takes */
export const checkRequest = (request: LaneRequest, listener: LaneListener): void => {
  checkOptions('enter()', request, checks);
  checkValue('enter()', 'listener', listener, objectWithMethods('admitted', 'refused'));
};
