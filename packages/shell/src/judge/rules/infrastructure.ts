import type { CommandRule } from '../rule.js';

const terraform = ['terraform', 'tofu', 'terragrunt'];

/** Rules about infrastructure as code. */
export const infrastructureRules: readonly CommandRule[] = [
  {
    rule: 'infrastructure/destroy',
    decision: 'deny',
    programs: terraform,
    words: ['destroy', 'run-all destroy', 'run destroy', 'destroy-all', 'stack run destroy'],
    unless: ['-help|--help'],
    why: 'It destroys everything that the configuration has created.',
    instead: 'Show the person the output of terraform plan -destroy.',
  },
  {
    rule: 'infrastructure/apply-destroy',
    decision: 'deny',
    programs: terraform,
    words: ['apply', 'run-all apply'],
    flags: ['-destroy|--destroy'],
    why: 'It destroys everything that the configuration has created.',
  },
  {
    rule: 'infrastructure/apply',
    decision: 'ask',
    programs: terraform,
    words: ['apply', 'run-all apply', 'run apply', 'apply-all'],
    unless: ['-help|--help'],
    why: 'It changes real machines and services.',
    instead: 'Use terraform plan, and let a person apply it.',
  },
  {
    rule: 'infrastructure/state',
    decision: 'ask',
    programs: terraform,
    words: ['state (rm|push|mv|replace-provider)', 'workspace delete', 'force-unlock', 'taint', 'untaint', 'import'],
    why: 'It changes the recorded state of the infrastructure.',
  },
  {
    rule: 'infrastructure/pulumi-destroy',
    decision: 'deny',
    programs: ['pulumi'],
    words: ['(destroy|down|dn)'],
    flags: [],
    unless: ['--preview-only|--help'],
    why: 'It destroys everything that the stack has created.',
  },
  {
    rule: 'infrastructure/pulumi',
    decision: 'ask',
    programs: ['pulumi'],
    words: ['(up|update|refresh|cancel)', 'stack (rm|import)', 'state (delete|unprotect|move|repair)'],
    unless: ['--preview-only|--help'],
    why: 'It changes real machines and services.',
    instead: 'Use pulumi preview, and let a person apply it.',
  },
  {
    rule: 'infrastructure/stacks',
    decision: 'ask',
    programs: [
      'cdk',
      'cdktf',
      'sls',
      'serverless',
      'sam',
      'sst',
      'copilot',
      'eb',
      'kapp',
      'nomad',
      'packer',
      'juju',
      'zappa',
      'chalice',
      'amplify',
    ],
    words: [
      '(destroy|remove|delete|terminate|undeploy|destroy-model)',
      '(app|env|svc|job|system) (delete|purge|gc|stop)',
    ],
    why: 'It removes deployed services.',
  },
];
