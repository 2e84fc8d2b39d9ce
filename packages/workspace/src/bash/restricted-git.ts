import type { BashPermissions } from './permissions.js';

/** Settings with which git runs no program that a repository names. */
const settings: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['log.showSignature', 'false'],
  // Git clears these settings for submodules, so it must not look into them.
  ['diff.ignoreSubmodules', 'dirty'],
];

/** External diffs cannot be switched off by a setting, only by an option of the commands that run them. */
const gitFunction = `git() {
  h_count=$#; h_place=options
  while [ "$h_count" -gt 0 ]; do
    h_word=$1; shift; set -- "$@" "$h_word"; h_count=$((h_count - 1))
    case $h_place:$h_word in
      options:-C|options:-c) h_place=value ;;
      value:*) h_place=options ;;
      options:-*|rest:*) ;;
      options:diff|options:log|options:show) set -- "$@" --no-ext-diff --no-textconv; h_place=rest ;;
      *) h_place=rest ;;
    esac
  done
  command git "$@"
}
`;

const variables = (allowWrite: boolean): Readonly<Record<string, string>> => ({
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
  // Even `git status` writes the index, unless it may not lock it.
  ...(!allowWrite && { GIT_OPTIONAL_LOCKS: '0' }),
});

/**
 * Lines of shell that run before a command whose permissions are restricted: git then runs no hook, file system monitor,
 * external diff or pager. The permissions allow these commands because of what git does, not because of what the
 * configuration of a repository makes it do.
 *
 * @returns An empty string if everything may run anyway.
 */
export const restrictedGit = ({ allowWrite = true, allowedCommands }: BashPermissions = {}): string => {
  if (allowWrite && allowedCommands === undefined) return '';
  const exports = Object.entries(variables(allowWrite)).map(([name, value]) => `export ${name}='${value}'\n`);
  return `unset GIT_DIR GIT_WORK_TREE GIT_EXTERNAL_DIFF GIT_CONFIG_PARAMETERS\n${exports.join('')}${gitFunction}`;
};
