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
   * The rules to apply instead of the default ones. Add to those with `[...commandRules, ...approvalRules]`.
   *
   * @defaultValue `commandRules`
   */
  readonly rules?: readonly CommandRule[] | undefined;
  /** Different decisions for rules, by name: `{ 'git/clean': 'allow', 'git/reset-hard': 'deny' }`. */
  readonly decisions?: Readonly<Record<string, CommandDecision>> | undefined;
  /**
   * Commands that are allowed regardless of the rules, as patterns: `'git clean -fd build'`, `'npm publish *'`. `*`
   * matches any text in a word, and at the end all further words. It never matches text that is unknown until the
   * command runs, or a path with `..`. Commands inside such a command are judged separately.
   */
  readonly allow?: readonly string[] | undefined;
  /** Commands that need an approval, as patterns. */
  readonly ask?: readonly string[] | undefined;
  /** Commands that are denied, as patterns. They take precedence over `allow`. */
  readonly deny?: readonly string[] | undefined;
  /**
   * The home folder for `~`.
   *
   * @defaultValue that of the user who runs this process
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
 * Rejects unknown options, values of the wrong type, and decisions about unknown rules.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkPolicyOptions = (owner: string, options: CommandPolicyOptions): void => {
  checkOptions(owner, options, checks);
  const { rules = commandRules, decisions = {} } = options;
  if (Object.keys(decisions).length === 0) return;
  const names = new Set(rules.map(({ rule }) => rule));
  for (const [name, decision] of Object.entries(decisions)) {
    if (names.has(name)) continue;
    const alike = [...names].filter((one) => one.startsWith(name.split('/', 1)[0] ?? ''));
    throw new InvalidOptionError({
      owner,
      option: `decisions.${name}`,
      message: `${owner}: "decisions" names the unknown rule ${JSON.stringify(name)} (received ${showValue(decision)}). Known rules: ${(alike.length > 0 ? alike : [...names]).join(', ')}.`,
    });
  }
};

/** @throws InvalidOptionError `invalid-option` for a command or folder of the wrong type */
export const checkCommand = (owner: string, command: unknown, cwd: unknown, project: unknown): void => {
  checkValue(owner, 'command', command, anyString);
  checkValue(owner, 'cwd', cwd, aPath);
  checkValue(owner, 'project', project, aPath);
};
