import type { CommandRule } from '../rule.js';

const git = ['git'];
/** Returns whether a path refers to several files: a folder, a pattern, or an unknown word. */
const isPattern = (text: string): boolean =>
  /[*?[\u{FFFF}]/u.test(text) ||
  text.endsWith('/') ||
  text.startsWith(':') ||
  !/(?:^|\/)[^/]*\.[^/]+$/.test(text) ||
  /(?:^|\/)\.\.?$/.test(text);

/** Returns whether `git checkout` or `git restore` discards more than single files that it names. */
const discards = (command: string, words: readonly string[]): boolean => {
  if (words.some((word) => word.startsWith('--pathspec-from-f'))) return true;
  const rest = words.slice(words.indexOf(command) + 1);
  const isOption = (word: string): boolean => word.startsWith('-');
  if (command === 'restore') {
    if (rest.some((word) => /^(?:-s|--source)/.test(word))) return true;
    return rest.filter((word) => !isOption(word)).some(isPattern);
  }
  if (rest.some((word) => /^(?:-[a-zA-Z]*[bBtd]|--orphan|--track|--detach)/.test(word))) return false;
  const end = rest.indexOf('--');
  const before = (end === -1 ? rest : rest.slice(0, end)).filter((word) => !isOption(word));
  const paths = end === -1 ? before.slice(1) : rest.slice(end + 1);
  if (end === -1 && before.length > 1 && before.every((word) => !isPattern(word))) return false;
  // Files of another revision replace those of the work tree; those of the index only replace changes that git shows.
  if (paths.length > 0 && before.length > 0) return true;
  if (end !== -1) return paths.some(isPattern);
  const [only = ''] = before;
  return everything.test(only) || /[*?[]/.test(only) || only.endsWith('/');
};

const everything = /^(?:\.\/?|:\/|:\/\*|\*|\.\/\*|--all|:\(top\).*)$/;

/** What discards changes or commits in other version control systems. */
const otherSystems: Readonly<Record<string, RegExp>> = {
  hg: /^(?:strip|purge|rollback|debugstrip)\b|^(?:update|up|checkout|co) .*(?:-C\b|--clean)|^revert .*(?:-a\b|--all)|^push .*(?:-f\b|--force)/,
  svn: /^revert .*(?:-R\b|--recursive|--depth)|^(?:delete|rm|del|remove) .*:\/\/|--remove-(?:unversioned|ignored)/,
  jj: /^(?:abandon|restore|op(?:eration)? (?:restore|abandon))\b/,
  sl: /^(?:hide|purge|clean)\b|^(?:goto|update) .*(?:-C\b|--clean)/,
  p4: /^(?:revert|obliterate|clean)\b/,
  bzr: /^(?:revert|uncommit|clean-tree)\b/,
  fossil: /^(?:revert|clean|purge)\b/,
};

const maxText = 400;

/** Commands that run hooks. */
const runsHooks =
  /^(?:commit|push|merge|rebase|am|pull|cherry-pick|revert|checkout|switch|gc|receive-pack|worktree|clone)$/;

/** Rules about git operations that cannot be undone, here or on a remote. */
export const gitRules: readonly CommandRule[] = [
  {
    rule: 'git/force-push',
    decision: 'deny',
    programs: git,
    words: ['(push|send-pack)'],
    flags: ['-f|--force'],
    unless: ['-n|--dry-run'],
    why: 'It overwrites commits of other people on the remote.',
    instead: 'Push a new commit; git push --force-with-lease requires approval.',
  },
  {
    rule: 'git/force-push-refspec',
    decision: 'deny',
    programs: git,
    words: ['push'],
    test: ({ arguments: { operands } }) => operands.some(({ text }) => /^\+./.test(text)),
    unless: ['-n|--dry-run'],
    why: 'The plus sign forces the push, which overwrites commits of other people on the remote.',
    instead: 'Push a new commit; git push --force-with-lease requires approval.',
  },
  {
    rule: 'git/force-push-with-lease',
    decision: 'ask',
    programs: git,
    words: ['push'],
    argument: /^--force-[wi]/,
    unless: ['-n|--dry-run'],
    why: 'It overwrites commits of the remote, and a fetch in the meantime makes the lease worthless.',
    instead: 'Push a new commit, or ask the person.',
  },
  {
    rule: 'git/push-mirror',
    decision: 'deny',
    programs: git,
    words: ['push'],
    flags: ['--mirror|--prune'],
    unless: ['-n|--dry-run'],
    why: 'It deletes all branches and tags of the remote that do not exist here.',
    instead: 'Push the intended branch.',
  },
  {
    rule: 'git/delete-remote-branch',
    decision: 'ask',
    programs: git,
    words: ['push'],
    flags: ['-d|--delete'],
    why: 'It deletes a branch or tag of the remote.',
  },
  {
    rule: 'git/delete-remote-refspec',
    decision: 'ask',
    programs: git,
    words: ['push'],
    test: ({ arguments: { operands } }) => operands.some(({ text }) => /^:./.test(text)),
    why: 'A colon without a source deletes a branch or tag of the remote.',
  },
  {
    rule: 'git/reset-hard',
    decision: 'ask',
    programs: git,
    words: ['reset'],
    test: ({ arguments: { words } }) => words.some((word) => /^--(?:h(?:a|ar|ard)?|merge|merg|mer|keep)$/.test(word)),
    why: 'It discards uncommitted changes.',
    instead: 'Use git stash, git reset --soft or git reset --mixed.',
  },
  {
    rule: 'git/discard-files',
    decision: 'ask',
    programs: git,
    words: ['checkout', 'restore'],
    test: ({ arguments: { operands, words, has } }) => {
      if (operands[0]?.text === 'restore' && (has('--staged') !== 'no' || has('-S') !== 'no')) {
        return has('--worktree') === 'yes' || has('-W') === 'yes';
      }
      return discards(operands[0]?.text ?? '', words);
    },
    why: 'It discards uncommitted changes.',
    instead: 'Use git stash, or name single files after looking at git diff.',
  },
  {
    rule: 'git/checkout-force',
    decision: 'ask',
    programs: git,
    words: ['checkout', 'switch'],
    flags: ['-f|--force|--discard-changes'],
    why: 'It discards uncommitted changes.',
    instead: 'Use git stash first.',
  },
  {
    rule: 'git/clean',
    decision: 'ask',
    programs: git,
    words: ['clean'],
    test: ({ arguments: { words, has } }) =>
      has('-f') === 'yes' ||
      has('--force') === 'yes' ||
      words.some((word) => /^clean\.requireforce=(?:false|no|off|0)$/i.test(word)),
    unless: ['-n|--dry-run|-i|--interactive'],
    why: 'It deletes untracked files, which cannot be recovered.',
    instead: 'Look at the list with git clean -n first.',
  },
  {
    rule: 'git/delete-branch',
    decision: 'ask',
    programs: git,
    words: ['branch'],
    flags: ['-D'],
    why: 'It deletes a branch whose commits may be nowhere else.',
    instead: 'Use git branch -d, which refuses that.',
  },
  {
    rule: 'git/overwrite-index',
    decision: 'ask',
    programs: git,
    words: ['read-tree', 'checkout-index'],
    // With -u alone, read-tree merges, which fails rather than overwrite a change.
    flags: ['--reset|-f|--force'],
    unless: ['-n|--dry-run'],
    why: 'It overwrites files with uncommitted changes.',
    instead: 'Use git stash first.',
  },
  {
    rule: 'git/reverse-changes',
    decision: 'ask',
    programs: ['git', 'patch'],
    flags: ['-R|--reverse'],
    test: ({ program, arguments: { operands }, reads, madeBy }) =>
      (program === 'patch' || operands[0]?.text === 'apply') && [...reads, ...madeBy].includes('git'),
    why: 'It reverts changes, including uncommitted ones.',
    instead: 'Use git stash or git revert.',
  },
  {
    rule: 'git/move-branch',
    decision: 'ask',
    programs: git,
    words: ['branch'],
    flags: ['-f|--force'],
    why: 'It moves a branch; its commits may be nowhere else.',
    instead: 'Create another one.',
  },
  {
    rule: 'git/replace-branch',
    decision: 'ask',
    programs: git,
    words: ['branch', 'switch', 'checkout'],
    flags: ['-M|-C|-B|--force-create'],
    test: ({ arguments: { operands, words } }) => operands.length > (words.includes('branch') ? 2 : 1),
    why: 'It replaces a branch, and commits that are on no other branch are lost.',
    instead: 'Use git branch -m, which refuses that.',
  },
  {
    rule: 'git/fetch-over-branch',
    decision: 'ask',
    programs: git,
    words: ['fetch', 'pull'],
    test: ({ arguments: { operands, has } }) => {
      const isForced = has('-f') === 'yes' || has('--force') === 'yes';
      return operands.some(({ text }) =>
        (isForced ? /^.+:(?!refs\/remotes|\/)/ : /^\+.+:(?!refs\/remotes)/).test(text),
      );
    },
    why: 'It replaces a branch, and commits that are on no other branch are lost.',
  },
  {
    rule: 'git/runs-settings',
    decision: 'ask',
    programs: ['git', 'npm', 'pnpm', 'yarn'],
    words: ['config'],
    test: ({ arguments: { operands }, zoneOf }) =>
      operands.some(
        ({ text }, index) =>
          index > 0 &&
          operands[index + 1] !== undefined &&
          ((zoneOf(operands[index + 1]?.text ?? '') === 'scratch' &&
            /^(?:core|diff|filter|merge|credential|gpg|init|script-shell)/i.test(text)) ||
            /^(?:init\.templatedir|core\.(?:sshcommand|gitproxy|askpass))$/i.test(text) ||
            (/^(?:safe\.directory|credential\.(?:.*\.)?helper)$/i.test(text) &&
              /^(?:\*|store|!.*)$/.test(operands[index + 1]?.text ?? '')) ||
            (/^clean\.requireforce$/i.test(text) && /^(?:false|no|off|0)$/i.test(operands[index + 1]?.text ?? '')) ||
            (/^core\.fsmonitor$/i.test(text) && !/^(?:true|false|0|1)$/.test(operands[index + 1]?.text ?? ''))),
      ),
    why: 'Later commands of git run programs, trust places or delete files because of this setting.',
  },
  {
    rule: 'git/other-systems',
    decision: 'ask',
    programs: Object.keys(otherSystems),
    test: ({ program, arguments: { words } }) =>
      otherSystems[program]?.test(words.join(' ').slice(0, maxText)) === true,
    unless: ['-n|--dry-run'],
    why: 'It discards changes or commits.',
  },
  {
    rule: 'git/hooks-path',
    decision: 'ask',
    programs: git,
    words: ['config'],
    test: ({ arguments: { operands, words, has }, zoneOf }) => {
      const at = operands.findIndex(({ text }) => /^core\.hookspath$/i.test(text));
      if (at === -1) return false;
      const value = operands[at + 1]?.text;
      if (has('--unset') === 'yes' || has('--unset-all') === 'yes' || words.includes('unset')) return true;
      // Such a setting applies to all repositories.
      if (value !== undefined && words.some((word) => /^--(?:global|system)$/.test(word))) return true;
      return value !== undefined && (value === '' || zoneOf(value) !== 'inside');
    },
    why: 'Git would run the programs in that folder, and no longer the hooks of the project.',
  },
  {
    rule: 'git/skips-hooks',
    decision: 'ask',
    programs: 'git husky lefthook pre-commit prek overcommit hk'.split(' '),
    test: ({ program, arguments: { operands, words, has }, skipsHooks }) => {
      const command = operands[0]?.text ?? '';
      if (program !== 'git') return words.some((word) => /^(?:--)?uninstall$/.test(word));
      if (!runsHooks.test(command)) return false;
      // A path for one command only is one without the hooks of the project.
      const hasPath = words.some((word) => /^(?:--config-env=)?core\.hookspath(?:=|$)/i.test(word));
      return (
        skipsHooks ||
        has('--no-verify') !== 'no' ||
        (command === 'commit' &&
          has('-n') === 'yes' &&
          !words.some((word) => /^-[a-z]*u(?:no|normal|all)$/.test(word))) ||
        hasPath
      );
    },
    why: 'It skips or removes the hooks, which are the checks of the project.',
    instead: 'Fix what the hook reports.',
  },
  {
    rule: 'git/delete-tag',
    decision: 'ask',
    programs: git,
    words: ['tag'],
    flags: ['-d|--delete'],
    why: 'It deletes a tag, and its commits may be nowhere else.',
  },
  {
    rule: 'git/remote-commands',
    decision: 'ask',
    programs: git,
    argument: /^ext::|^protocol\.ext\.allow=(?:always|user)$/i,
    why: 'The address of the remote is a command that git runs.',
  },
  {
    rule: 'git/drop-stash',
    decision: 'ask',
    programs: git,
    words: ['stash (drop|clear)'],
    why: 'It deletes stashed changes.',
  },
  {
    rule: 'git/rewrite-history',
    decision: 'ask',
    programs: ['git', 'git-filter-repo', 'bfg', 'git-filter-branch'],
    test: ({ program, arguments: { operands } }) =>
      program !== 'git' ||
      /^(?:filter-branch|filter-repo|replace|lfs migrate)/.test(
        operands
          .slice(0, 2)
          .map(({ text }) => text)
          .join(' '),
      ),
    unless: ['--help|-h|--analyze|--version'],
    why: 'It rewrites the history of all branches.',
  },
  {
    rule: 'git/forget',
    decision: 'ask',
    programs: git,
    words: ['reflog (expire|delete|drop)', 'prune', 'update-ref'],
    unless: ['-n|--dry-run'],
    why: 'It deletes commits permanently.',
  },
  {
    rule: 'git/gc-now',
    decision: 'ask',
    programs: git,
    words: ['gc'],
    flags: ['--prune'],
    why: 'It deletes commits that could still be recovered.',
    instead: 'Use git gc, which keeps recent ones.',
  },
  {
    rule: 'git/remove-worktree',
    decision: 'ask',
    programs: git,
    words: ['worktree remove', 'submodule deinit'],
    flags: ['-f|--force'],
    why: 'It deletes a work tree with uncommitted changes.',
  },
  {
    rule: 'git/remove-all',
    decision: 'ask',
    programs: git,
    words: ['rm'],
    flags: ['-f|--force'],
    unless: ['--cached|-n|--dry-run'],
    why: 'It deletes files with uncommitted changes.',
  },
];
