import {
  anyFunction,
  anyObject,
  anyString,
  nonEmptyString,
  checkOptions,
  checkValue,
  InvalidOptionError,
  arrayOf,
  objectOf,
  oneOf,
  recordOf,
  required,
  showValue,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
import type { CommandDecision, CommandRule } from './rule.js';
import { commandRules } from './rules/index.js';

/** Options of a policy. */
export interface CommandPolicyOptions {
  /**
   * The rules to go by, in place of the usual ones. Add to those with `[...commandRules, ...approvalRules]`.
   *
   * @defaultValue `commandRules`
   */
  readonly rules?: readonly CommandRule[] | undefined;
  /** Other decisions for rules, by their names: `{ 'git/clean': 'allow', 'git/reset-hard': 'deny' }`. */
  readonly decisions?: Readonly<Record<string, CommandDecision>> | undefined;
  /**
   * Commands that are fine whatever the rules say, as patterns: `'git clean -fd build'`, `'npm publish *'`. `*` stands for
   * any text in a word, and at the end for all further words; it covers nothing that is only known when it runs, and no
   * path with `..`. A command within such a command is judged by itself.
   */
  readonly allow?: readonly string[] | undefined;
  /** Commands that a person is asked about, as patterns. */
  readonly ask?: readonly string[] | undefined;
  /** Commands that never run, as patterns. They count before `allow`. */
  readonly deny?: readonly string[] | undefined;
  /**
   * The home folder that `~` stands for.
   *
   * @defaultValue that of the user whose process this is
   */
  readonly home?: string | undefined;
}

const aDecision = oneOf('allow', 'ask', 'deny');
const aPattern: OptionCheck = {
  accepts: (value) => typeof value === 'string' && value.trim() !== '' && value.trim() !== '*',
  expected: 'a pattern like "npm run *"',
};
const aPath: OptionCheck = {
  accepts: (value) => typeof value === 'string' && value.startsWith('/'),
  expected: 'an absolute path',
};
const aRegExp: OptionCheck = {
  accepts: (value) => value instanceof RegExp && !value.global && !value.sticky,
  expected: 'a regular expression without the flags g and y',
};
const texts = arrayOf(nonEmptyString);

const aRule = objectOf({
  rule: required(nonEmptyString),
  decision: required(oneOf('ask', 'deny')),
  programs: texts,
  words: texts,
  flags: texts,
  unless: texts,
  argument: aRegExp,
  paths: anyObject,
  sql: nonEmptyString,
  problem: nonEmptyString,
  test: anyFunction,
  why: required(nonEmptyString),
  instead: nonEmptyString,
});

const checks: OptionChecks<CommandPolicyOptions> = {
  rules: arrayOf(aRule),
  decisions: recordOf(aDecision),
  allow: arrayOf(aPattern),
  ask: arrayOf(aPattern),
  deny: arrayOf(aPattern),
  home: aPath,
};

/**
 * Refuses options that do not exist, values of the wrong type, and decisions about unknown rules.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkPolicyOptions = (owner: string, options: CommandPolicyOptions): void => {
  checkOptions(owner, options, checks);
  const { rules = commandRules, decisions = {} } = options;
  const names = new Set(rules.map(({ rule }) => rule));
  for (const [name, decision] of Object.entries(decisions)) {
    if (names.has(name)) continue;
    const alike = [...names].filter((one) => one.startsWith(name.split('/', 1)[0] ?? ''));
    throw new InvalidOptionError({
      owner,
      option: `decisions.${name}`,
      message: `${owner} has no rule ${JSON.stringify(name)} to decide ${showValue(decision)} about; it has ${(alike.length > 0 ? alike : [...names]).join(', ')}.`,
    });
  }
};

/** @throws InvalidOptionError `invalid-option` for a command or folder of the wrong type */
export const checkCommand = (owner: string, command: unknown, cwd: unknown, project: unknown): void => {
  checkValue(owner, 'command', command, anyString);
  checkValue(owner, 'cwd', cwd, aPath);
  checkValue(owner, 'project', project, aPath);
};
