import type { CommandRule } from '../rule.js';
import { production } from './infrastructure.js';
import { mutationDeletes } from './verbs.js';

/** Rules about the command-line tools of GitHub and GitLab. */
export const hubRules: readonly CommandRule[] = [
  {
    rule: 'git/skips-checks',
    decision: 'ask',
    programs: ['gh', 'glab'],
    words: ['(pr|mr) merge'],
    flags: ['--admin'],
    why: 'It merges without the checks and reviews that the repository requires.',
    instead: 'Wait for the checks, or merge with --auto.',
  },
  {
    rule: 'git/change-on-hub',
    decision: 'ask',
    programs: ['gh', 'glab'],
    words: ['(ssh-key|gpg-key|deploy-key) add', 'repo (deploy-key|edit)', '(secret|variable) set', 'workflow disable'],
    unless: ['--help'],
    why: 'It changes access to the repository, its secrets or its checks.',
  },
  {
    rule: 'git/closes-on-hub',
    decision: 'ask',
    programs: ['gh', 'glab'],
    words: ['(pr|mr) close', 'issue transfer', 'repo sync', 'repo create', 'auth refresh', 'workflow run'],
    test: ({ arguments: { operands, words } }) => {
      const [first, second] = operands.map(({ text }) => text);
      if (first === 'issue' || first === 'auth') return true;
      if (first === 'workflow') return words.some((word) => production.test(word));
      const option = second === 'close' ? /^(?:-d|--delete-branch)$/ : second === 'sync' ? /^--force$/ : /^--public$/;
      return words.some((word) => option.test(word));
    },
    why: 'It deletes a branch, overwrites commits, or publishes the project.',
  },
  {
    rule: 'git/changes-access-through-api',
    decision: 'ask',
    programs: ['gh', 'glab'],
    words: ['api'],
    argument:
      /(?:^|\/)(?:keys|protection|collaborators|hooks|secrets|permissions|variables|rulesets|memberships|invitations|transfer|deploy_keys)(?:\/|$)|^(?:private|visibility|archived)=/,
    test: ({ arguments: { valuesOf, words } }) =>
      [...valuesOf('-X'), ...valuesOf('--method')].some((method) => /^(?:put|patch|post)$/i.test(method)) ||
      words.some((word) => /^-X(?:PUT|PATCH|POST)$/i.test(word)),
    why: 'It changes access to the repository, its secrets or its checks.',
  },
  {
    rule: 'git/delete-on-hub',
    decision: 'ask',
    programs: ['gh', 'glab', 'hub'],
    words: [
      '(repo|release|issue|secret|variable|gist|label|cache|ruleset|codespace|cs|run|project|ssh-key|gpg-key) (delete|delete-asset|remove)',
      'repo (archive|rename)',
      '(mr|runner|ci|schedule|milestone|snippet|environment|deploy-key) delete',
    ],
    why: 'It deletes a resource that other people use.',
  },
  {
    rule: 'git/delete-through-api',
    decision: 'ask',
    programs: ['gh', 'glab'],
    words: ['api'],
    test: ({ arguments: { valuesOf, words }, input }) =>
      [...valuesOf('-X'), ...valuesOf('--method')].some((method) => /^delete$/i.test(method)) ||
      [...words, input ?? ''].some((text) => text === '-XDELETE' || mutationDeletes(text)),
    why: 'It deletes a resource through the API.',
  },
];
