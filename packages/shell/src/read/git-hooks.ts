import { programName, type Field } from './field.js';
import { lookUp, type Scope } from './scope.js';

/** Variables with which hook managers skip the hooks of git, and the values that do so. */
const skips: Readonly<Record<string, RegExp>> = {
  HUSKY: /^0$/,
  HUSKY_SKIP_HOOKS: /^(?:1|true)$/,
  LEFTHOOK: /^(?:0|false)$/,
  OVERCOMMIT_DISABLE: /^1$/,
  PRE_COMMIT_ALLOW_NO_CONFIG: /^1$/,
  SKIP: /./,
  SKIP_HOOKS: /./,
  SKIP_SIMPLE_GIT_HOOKS: /^1$/,
  GIT_CONFIG_KEY_0: /^core\.hookspath$/i,
  GIT_CONFIG_PARAMETERS: /core\.hookspath/i,
};

/** Returns whether a variable that the line has set turns off the hooks that a git command would run. */
export const skipsHooks = ([first]: readonly Field[], scope: Scope): boolean =>
  programName(first?.text ?? '') === 'git' &&
  Object.entries(skips).some(([name, value]) => {
    const text = lookUp(scope, 'variables', name)?.[0];
    return text !== undefined && value.test(text);
  });
