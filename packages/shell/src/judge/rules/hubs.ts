import type { CommandRule } from '../rule.js';
import { production } from './infrastructure.js';
import { mutationDeletes } from './verbs.js';

/**
 * Paths of an API where people discuss, checks report, or something is only added; and those within them that do more. A
 * variable may contain both parts of a repository's name.
 */
const discusses =
  /^(?:(?:repos\/(?:[^/]+\/[^/]+|[^/]*\u{FFFF}[^/]*)|projects\/[^/]+)\/(?:issues|pulls|merge_requests|labels|milestones|status|comments|commits|discussions|check-|deployments|subscription|code-scanning|actions|jobs|pipeline|dispatches|forks|generate|releases\/generate|uploads|git)|notifications|gists|user\/(?:starred|following))/u;
const changes = /\/(?:merge|update-branch|lock|rebase)$|\/(?:secrets|variables|permissions|git\/refs\/\w)/;

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
    test: ({ arguments: { operands, valuesOf, words } }) => {
      const methods = [
        ...['-X', '--method'].flatMap(valuesOf),
        ...words.flatMap((word) => /^-X(\w+)$/.exec(word)?.[1] ?? []),
      ];
      // With fields and without a method, it sends POST.
      const isChange =
        methods.length > 0
          ? methods.some((method) => /^(?:put|patch|post)$/i.test(method))
          : words.some((word) => /^(?:-[fF]|--(?:raw-)?field|--input)(?:=|$)/.test(word));
      const path = operands[1]?.text.replace(/^https?:\/\/[^/]+(?:\/api\/v\d)?|[?#].*$/g, '').replace(/^\//, '') ?? '';
      return isChange && /^\w+\/./.test(path) && (!discusses.test(path) || changes.test(path));
    },
    why: 'It changes branches, settings, or access to the repository, its secrets or its checks.',
    instead: 'Show the person the request.',
  },
  {
    rule: 'git/delete-on-hub',
    decision: 'ask',
    programs: ['gh', 'glab', 'hub'],
    words: [
      'delete',
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
