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
import type { LaneListener, LaneRequest } from '../contract.js';

const priorities = ['foreground', 'normal', 'background'];

/** Checks of the fields that `enter()` and `run()` share. */
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

/** @throws InvalidOptionError that names the field, its value and what it accepts */
export const checkRequest = (request: LaneRequest, listener: LaneListener): void => {
  checkOptions('enter()', request, checks);
  checkValue('enter()', 'listener', listener, objectWithMethods('admitted', 'refused'));
};
