import { checkOptions as check, type OptionCheck, type OptionChecks } from '@h/options';
import { ContinuityError } from './errors.js';

/** Refuses options as `@h/options` does. @throws ContinuityError `invalid-option` */
export const checkOptions = <Options>(owner: string, options: Options, checks: OptionChecks<NoInfer<Options>>): void =>
  check<Options>(owner, options, checks, ({ message }) => new ContinuityError('invalid-option', message));

/** What `openProject()` makes, as far as it is used. */
export const aProject: OptionCheck = {
  expected: 'what openProject() makes',
  accepts: (value) =>
    ['progress', 'notes', 'state', 'rules'].every(
      (name) => typeof (value as Readonly<Record<string, unknown>> | null)?.[name] === 'object',
    ),
};
