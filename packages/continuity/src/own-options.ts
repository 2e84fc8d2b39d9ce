import { checkOptions as check, type OptionCheck, type OptionChecks } from '@h/options';
import { ContinuityError } from './errors.js';

/** Checks options with `@h/options`. @throws ContinuityError `invalid-option` */
export const checkOptions = <Options>(owner: string, options: Options, checks: OptionChecks<NoInfer<Options>>): void =>
  check<Options>(owner, options, checks, ({ message }) => new ContinuityError('invalid-option', message));

/** Accepts a result of `openProject()`. */
export const aProject: OptionCheck = {
  expected: 'a result of openProject()',
  accepts: (value) =>
    ['progress', 'notes', 'state', 'rules'].every(
      (name) => typeof (value as Readonly<Record<string, unknown>> | null)?.[name] === 'object',
    ),
};
