import { GitError } from './git-error.js';
import type { GitRunner } from './runner.js';

/** Settings that keep git from running anything, whatever the repository says. */
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

/** What to put over a setting that names a program, by the shape of its key. */
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

/** Settings that name a program and that nothing can be put over. */
const refused = /^(?:core\.alternaterefscommand|core\.gitproxy|remote\..+\.(?:vcs|receivepack|uploadpack))$/i;

/** How many overrides there may be; more is no configuration but an attack. */
const maxOverrides = 1_000;

/**
 * The variables that switch off what the settings of a repository would run. Reading settings runs nothing.
 *
 * @throws GitError `git-config` if there is a program that cannot be switched off.
 */
export const harmlessConfig = async (
  run: GitRunner,
  signal?: AbortSignal,
): Promise<Readonly<Record<string, string>>> => {
  const { stdout } = await run(['config', '--list', '--includes', '--name-only', '-z'], { signal });
  const settings = new Map<string, string>(fixed);
  for (const key of stdout.toString().split('\0')) {
    if (refused.test(key)) {
      throw new GitError(
        'git-config',
        `The repository sets ${JSON.stringify(key)}, which may run any program; remove it, or trust the folder.`,
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
      'The repository has too many settings that name programs; trust the folder, or remove them.',
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
