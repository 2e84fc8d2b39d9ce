import { GitError } from './git-error.js';

/** Settings that keep git from running programs that the repository configures. */
const fixed: readonly (readonly [key: string, value: string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['push.gpgSign', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['log.showSignature', 'false'],
  ['credential.helper', ''],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

/** Overrides of settings that name a program, by the form of their key. */
const overrides: readonly (readonly [key: RegExp, setting: readonly (readonly [name: string, value: string])[]])[] = [
  [
    /^(filter\..+)\.(?:clean|smudge|process|required)$/i,
    [
      ['clean', ''],
      ['smudge', ''],
      ['process', ''],
      ['required', 'false'],
    ],
  ],
  [
    /^(hook\..+)\.(?:command|event|enabled)$/i,
    [
      ['enabled', 'false'],
      ['event', ''],
      ['command', ''],
    ],
  ],
  [/^(credential\..+)\.helper$/i, [['helper', '']]],
];

/** Settings that name a program and cannot be overridden. */
const refused = /^(?:core\.alternaterefscommand|core\.gitproxy|remote\..+\.(?:vcs|receivepack|uploadpack))$/i;

/** Maximum number of overrides; a repository that needs more is hostile. */
const maxOverrides = 1_000;

/**
 * Returns the environment variables that disable the programs in the settings of a repository.
 *
 * @param keys the keys of all settings
 * @throws GitError `git-config` if a program cannot be disabled
 */
export const harmlessConfig = (keys: readonly string[]): Readonly<Record<string, string>> => {
  const settings = new Map<string, string>(fixed);
  for (const key of keys) {
    if (refused.test(key)) {
      throw new GitError(
        'git-config',
        `The repository sets ${JSON.stringify(key)}, which can run any program; remove the setting, or trust the folder.`,
      );
    }
    for (const [pattern, values] of overrides) {
      const prefix = pattern.exec(key)?.[1];
      if (prefix !== undefined) for (const [name, value] of values) settings.set(`${prefix}.${name}`, value);
    }
  }
  if (settings.size > maxOverrides) {
    throw new GitError(
      'git-config',
      `The repository has ${settings.size} settings that name programs, more than ${maxOverrides}; remove them, or trust the folder.`,
    );
  }
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.size)],
    ...[...settings].flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]) as Record<string, string>;
};
