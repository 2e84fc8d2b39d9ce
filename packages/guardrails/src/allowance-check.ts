import {
  InvalidOptionError,
  arrayOf,
  numberFrom,
  objectOf,
  oneOf,
  required,
  integerFrom,
  type OptionChecks,
} from '@h/options';
import type { Extension } from './extension.js';
import { limitFacts, limitNames, type Allowance, type LimitName, type Limits } from './limits.js';

const amounts = new Set<LimitName>(['maxCost', 'maxDurationMs']);

const limits = Object.fromEntries(
  limitNames.map((name) => [name, amounts.has(name) ? numberFrom(0, Infinity) : integerFrom(0, Infinity)]),
) as OptionChecks<Limits>;

const extension: OptionChecks<Extension> = {
  perCompletion: required(numberFrom(0)),
  limits: required(arrayOf(oneOf(...limitNames.filter((name) => name !== 'maxConsecutiveExceptions')))),
  maxFactor: numberFrom(1),
};

/** What limits and extensions have to be. */
export const allowanceChecks: OptionChecks<Allowance> = { ...limits, extension: objectOf(extension) };

/**
 * Refuses an extension in proportion to steps that are not limited.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkExtension = (owner: string, allowance: Allowance, option = 'extension'): void => {
  const { extension, maxSteps = Infinity } = allowance;
  if (extension === undefined || extension.perCompletion === 0 || (maxSteps !== Infinity && maxSteps !== 0)) return;
  const inProportion = extension.limits.find(
    (name) => limitFacts[name].isCounted !== true && (allowance[name] ?? Infinity) !== Infinity,
  );
  if (inProportion === undefined) return;
  throw new InvalidOptionError({
    owner,
    option,
    message: `${owner} raises "${inProportion}" in proportion to "maxSteps" by its "${option}"; give that a limit above 0, or leave "${inProportion}" out.`,
  });
};
