import type { BashPermissions } from './permissions.js';

/** Settings that keep git from running programs of a repository. */
const settings: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['log.showSignature', 'false'],
  // Git clears these settings for submodules, so it must not enter them.
  ['diff.ignoreSubmodules', 'dirty'],
];

/** No setting disables external diffs, only an option of the commands that run them. */
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
  // `git status` writes the index unless optional locks are disabled.
  ...(!allowWrite && { GIT_OPTIONAL_LOCKS: '0' }),
});

/**
 * Returns shell lines that run before a command with restricted permissions: git then runs no hook, file system
 * monitor, external diff or pager. The permissions allow git commands for their own effects, not for those of a
 * repository's configuration.
 *
 * @returns an empty string if everything may run anyway
 */
export const restrictedGit = ({ allowWrite = true, allowedCommands }: BashPermissions = {}): string => {
  if (allowWrite && allowedCommands === undefined) return '';
  const exports = Object.entries(variables(allowWrite)).map(([name, value]) => `export ${name}='${value}'\n`);
  return `unset GIT_DIR GIT_WORK_TREE GIT_EXTERNAL_DIFF GIT_CONFIG_PARAMETERS\n${exports.join('')}${gitFunction}`;
};
