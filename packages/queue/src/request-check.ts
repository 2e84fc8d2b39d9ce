import {
  aFlag,
  anyText,
  aText,
  anObject,
  checkOptions,
  checkValue,
  numberFrom,
  objectWith,
  oneOf,
  recordOf,
  required,
  type OptionChecks,
} from '@h/turn/options';
import type { LaneListener, LaneRequest } from './contract.js';

const priorities = ['foreground', 'normal', 'background'];

/** What the fields of a request take that `run()` has too. */
export const requestChecks = {
  priority: oneOf(...priorities),
  trigger: aText,
  groups: recordOf(aText),
  label: aText,
  idleTimeoutMs: numberFrom(1, Infinity),
  deadlineMs: numberFrom(1, Infinity),
  graceMs: numberFrom(0, Infinity),
  maxWaitMs: numberFrom(0, Infinity),
  within: anObject,
};

const checks: OptionChecks<LaneRequest> = {
  ...requestChecks,
  session: required(aText),
  summary: anyText,
  ahead: aFlag,
};

/** @throws InvalidOptionError that names the field, its value and what it takes */
export const checkRequest = (request: LaneRequest, listener: LaneListener): void => {
  checkOptions('enter()', request, checks);
  checkValue('enter()', 'listener', listener, objectWith('admitted', 'refused'));
};
