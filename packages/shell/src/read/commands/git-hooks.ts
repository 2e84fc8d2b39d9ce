import { programName, type Field } from '../words/field.js';
import type { Scope } from '../scope.js';

/** Variables that switch a hook manager off with such a value: `HUSKY=0`. */
const manager = /^(?:HUSKY|LEFTHOOK|HK|PREK|PRE_COMMIT|OVERCOMMIT|(?:GIT_|RUN_)?HOOKS?)(?:_ENABLED?)?$/;
const off = /^(?:0|false|no|off)$/i;

/** Variables that select which hooks run: `SKIP=eslint`, `LEFTHOOK_EXCLUDE=lint`; not `SKIP_INSTALL` or `X_TELEMETRY_DISABLED`. */
const selection =
  /^(?!\w*(?:LFS|INSTALL|DOWNLOAD|TELEMETRY|ANALYTICS|TRACKING|UPDATE|NOTI[CF]|COLOU?R|CACHE|SOURCE_?MAP|PROMPT|BANNER))(?:\w+_)?(?:SKIP|EXCLUDE|ONLY|DISABLED?|BYPASS|NO_VERIFY|ALLOW_NO_CONFIG)(?:_\w+)?$/;

/** Variables that set another folder of hooks. */
const setting = /^GIT_CONFIG_(?:KEY_\d+|PARAMETERS)$/;

const skips = (name: string, value: string): boolean => {
  if (manager.test(name)) return off.test(value);
  if (selection.test(name)) return value !== '' && !off.test(value);
  return setting.test(name) && /core\.hookspath/i.test(value);
};

/** Returns whether a variable that the line has set turns off the hooks that a git command would run. */
export const skipsHooks = ([first]: readonly Field[], scope: Scope): boolean => {
  if (programName(first?.text ?? '') !== 'git') return false;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    for (const [name, [value = '']] of at.variables) if (skips(name, value)) return true;
  }
  return false;
};
