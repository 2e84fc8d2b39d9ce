import type { CommandRule } from '../rule.js';

const kubectl = ['kubectl', 'oc', 'k', 'k3s', 'microk8s'];

/** Rules about clusters. */
export const kubernetesRules: readonly CommandRule[] = [
  {
    rule: 'kubernetes/delete-many',
    decision: 'deny',
    programs: kubectl,
    words: ['delete', 'kubectl delete'],
    test: ({ arguments: { operands, has } }) =>
      has('--all') === 'yes' ||
      has('-A') === 'yes' ||
      has('--all-namespaces') === 'yes' ||
      operands.some(({ text }) =>
        /^(?:ns|namespaces?|crds?|customresourcedefinitions?|pv|persistentvolumes?|nodes?|no|all)(?:\/|$)/.test(text),
      ),
    unless: ['--dry-run'],
    why: 'It deletes whole namespaces, or everything of a kind.',
    instead: 'Delete the intended object after a run with --dry-run=client.',
  },
  {
    rule: 'kubernetes/delete',
    decision: 'ask',
    programs: kubectl,
    words: ['delete', 'kubectl delete'],
    unless: ['--dry-run'],
    why: 'It deletes objects of a cluster.',
    instead: 'Run it with --dry-run=client first.',
  },
  {
    rule: 'kubernetes/drain',
    decision: 'ask',
    programs: kubectl,
    words: ['drain', 'cordon', 'taint'],
    unless: ['--dry-run'],
    why: 'It removes workloads from a node.',
  },
  {
    rule: 'kubernetes/scale-down',
    decision: 'ask',
    programs: kubectl,
    words: ['scale', 'patch'],
    argument: /^(?:--replicas=)?0$|"replicas"\s*:\s*0/,
    unless: ['--dry-run'],
    why: 'It stops a service.',
  },
  {
    rule: 'kubernetes/replace',
    decision: 'ask',
    programs: kubectl,
    words: ['replace', 'apply'],
    flags: ['--force|--prune'],
    unless: ['--dry-run'],
    why: 'It deletes objects and creates them again.',
  },
  {
    rule: 'kubernetes/access',
    decision: 'ask',
    programs: kubectl,
    words: [
      'create (clusterrolebinding|rolebinding|clusterrole|role)',
      'set subject',
      'adm policy',
      'certificate (approve|deny)',
    ],
    unless: ['--dry-run'],
    why: 'It changes access rights in a cluster.',
  },
  {
    rule: 'kubernetes/access-by-manifest',
    decision: 'ask',
    programs: kubectl,
    words: ['(apply|create|auth|proxy|port-forward)'],
    test: ({ arguments: { operands, words }, input }) =>
      /^\s*kind:\s*["']?(?:Cluster)?RoleBinding\b/m.test(input ?? '') ||
      (operands[0]?.text === 'auth' && operands[1]?.text === 'reconcile') ||
      words.some(
        (word, index) =>
          /^--(?:accept-hosts|address=(?!127\.|localhost))/.test(word) ||
          (word === '--address' && !/^(?:127\.|localhost)/.test(words[index + 1] ?? '')),
      ),
    unless: ['--dry-run'],
    why: 'It changes access rights in a cluster, or opens it to others.',
  },
  {
    rule: 'kubernetes/sync-with-loss',
    decision: 'ask',
    programs: ['helm', 'argocd'],
    words: ['upgrade', 'app sync'],
    flags: ['--force|--prune|--replace'],
    unless: ['--dry-run'],
    why: 'It deletes objects and creates them again.',
  },
  {
    rule: 'kubernetes/privileged',
    decision: 'ask',
    programs: kubectl,
    words: ['(run|debug|create|apply|patch)'],
    argument:
      /^--privileged(?:=true)?$|^node\/|^--profile=(?:sysadmin|netadmin)$|"?(?:hostPID|hostNetwork|privileged)"?\s?:\s?true/,
    why: 'The container can change its host.',
  },
  {
    rule: 'kubernetes/undo',
    decision: 'ask',
    programs: kubectl,
    words: ['rollout (undo|restart|pause)', 'config (delete-context|delete-cluster|delete-user|unset)'],
    unless: ['--dry-run'],
    why: 'It restarts or replaces what runs, or removes the access to a cluster.',
  },
  {
    rule: 'kubernetes/helm',
    decision: 'ask',
    programs: ['helm', 'helmfile'],
    words: ['(uninstall|delete|del|un|rollback|destroy)'],
    unless: ['--dry-run'],
    why: 'It uninstalls a release or rolls it back.',
  },
];
