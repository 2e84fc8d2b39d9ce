import { anyString, checkOptions, arrayOf, type OptionChecks } from '@h/options';
import { ToolConfigurationError } from './errors.js';

export const listOfNames = arrayOf(anyString);

/**
 * Refuses options that do not exist or have no sense.
 *
 * @throws ToolConfigurationError which names the option and its value.
 */
export const checkToolOptions = <Options>(
  factory: string,
  options: Options,
  checks: OptionChecks<NoInfer<Options>>,
): void =>
  checkOptions(
    factory,
    options,
    checks,
    ({ option, message }) => new ToolConfigurationError(option === '' ? 'options' : option, message),
  );
