import type { BashPermissions } from './permissions.js';

/** Settings that keep git from running programs of a repository, whatever the repository sets. */
const fixed: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['log.showSignature', 'false'],
  ['protocol.ext.allow', 'never'],
  // Git clears these settings for submodules, so it must not enter them.
  ['diff.ignoreSubmodules', 'dirty'],
];

/** Keys of settings that name a program. The name of a filter, a driver or a remote is the choice of the repository. */
const namesProgram =
  '^(filter\\..+\\.(clean|smudge|process|required)|diff\\..+\\.(command|textconv)|merge\\..+\\.driver|gpg\\.(.+\\.)?program|credential\\.(.+\\.)?helper|core\\.(sshcommand|gitproxy|askpass|alternaterefscommand)|remote\\..+\\.uploadpack)$';

/**
 * A function of the shell that replaces git. It asks git for the settings of the repository that name a program, and runs
 * git with harmless values in their place; those of the user and of the system are kept. No setting disables external
 * diffs, only an option of the commands that run them. If git cannot list them (before 2.26), it does not run.
 *
 * Where writing is allowed, a command that needs a filter fails, because it would store or check out other content.
 * Commands that only compare files read them without the filter.
 */
const gitFunction = (allowWrite: boolean): string => `git() {
  h_count=$#; h_before=0; h_place=options; h_required=${allowWrite}
  while [ "$h_count" -gt 0 ]; do
    h_word=$1; shift; set -- "$@" "$h_word"; h_count=$((h_count - 1))
    case $h_place:$h_word in
      options:-C|options:-c|options:--git-dir|options:--work-tree|options:--namespace|options:--config-env|options:--attr-source|options:--super-prefix|options:--shallow-file) h_place=value ;;
      value:*) h_place=options ;;
      options:-*|rest:*) ;;
      options:diff|options:log|options:show|options:whatchanged)
        set -- "$@" --no-ext-diff --no-textconv; h_place=rest; h_required=false ;;
      options:status|options:blame) h_place=rest; h_required=false ;;
      *) h_place=rest ;;
    esac
    [ "$h_place" = rest ] || h_before=$((h_before + 1))
  done
  if [ "$h_place" != rest ]; then command git "$@"; return; fi
  { (
    h_count=$#
    while [ "$h_count" -gt 0 ]; do
      h_word=$1; shift; h_count=$((h_count - 1))
      [ "$h_before" -le 0 ] || set -- "$@" "$h_word"
      h_before=$((h_before - 1))
    done
    command git "$@" config --show-scope --name-only --get-regexp '${namesProgram}' || [ "$?" -eq 1 ] || echo unreadable
  ) </dev/null | (
    while IFS='\t' read -r h_scope h_key; do
      case $h_scope:$h_key in
        unreadable:*|*=*)
          echo 'The settings of the repository that name programs cannot be listed, so git does not run.' >&2
          exit 128 ;;
        local:*.textconv|worktree:*.textconv) h_value=cat ;;
        local:filter.*|worktree:filter.*)
          set -- -c "$h_key=" -c "\${h_key%.*}.required=$h_required" "$@"
          continue ;;
        local:core.sshcommand|worktree:core.sshcommand) h_value=ssh ;;
        local:core.gitproxy|worktree:core.gitproxy) h_value=none ;;
        local:gpg.ssh.*|worktree:gpg.ssh.*) h_value=ssh-keygen ;;
        local:gpg.x509.*|worktree:gpg.x509.*) h_value=gpgsm ;;
        local:gpg.*|worktree:gpg.*) h_value=gpg ;;
        local:remote.*|worktree:remote.*) h_value=git-upload-pack ;;
        local:merge.*|worktree:merge.*) h_value='git merge-file --quiet %A %O %B' ;;
        local:*|worktree:*) h_value= ;;
        *) continue ;;
      esac
      set -- -c "$h_key=$h_value" "$@"
    done
    command git ${fixed.map(([key, value]) => `-c ${key}=${value}`).join(' ')} "$@" <&9 9<&-
  ) } 9<&0
}
[ -z "\${BASH_VERSION:-}" ] || export -f git
`;

/** The same settings for programs that call git. */
const variables = (allowWrite: boolean): Readonly<Record<string, string>> => ({
  GIT_CONFIG_COUNT: String(fixed.length),
  ...Object.fromEntries(
    fixed.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
  // `git status` writes the index unless optional locks are disabled; in a partial clone, reading fetches objects.
  ...(!allowWrite && { GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1' }),
});

/** `go list` asks git for the state of the repository, and git then runs its filters. */
const goFlags = 'export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false"\n';

/**
 * Returns shell lines that run before a command with restricted permissions: git then runs no hook, file system
 * monitor, filter, external diff, pager or other program that the configuration of a repository names. The permissions
 * allow git commands for their own effects, not for those of a repository's configuration.
 *
 * @returns an empty string if everything may run anyway
 */
export const restrictedGit = ({ allowWrite = true, allowedCommands }: BashPermissions = {}): string => {
  if (allowWrite && allowedCommands === undefined) return '';
  const exports = Object.entries(variables(allowWrite)).map(([name, value]) => `export ${name}='${value}'\n`);
  if (!allowWrite) exports.push(goFlags);
  return `unset GIT_DIR GIT_WORK_TREE GIT_EXTERNAL_DIFF GIT_CONFIG_PARAMETERS\n${exports.join('')}${gitFunction(allowWrite)}`;
};
