import type { CommandRule } from '../rule.js';
import { removesResource } from './verbs.js';

const terraform = ['terraform', 'tofu', 'terragrunt'];

/** Programs that deploy, or select what later commands change. */
const deployers =
  'ansible ansible-playbook argocd cap capistrano cdk cdktf cf docker eb fastlane firebase flux fly flyctl gcloud helm helmfile heroku kamal kubectl kubectx netlify nomad now oc railway sam serverless skaffold sls sst vercel wrangler eas supabase convex'.split(
    ' ',
  );

/** Programs that migrate databases. */
export const migrationTools: readonly string[] = [
  'prisma',
  'supabase',
  'drizzle-kit',
  'sequelize',
  'sequelize-cli',
  'typeorm',
  'knex',
  'flyway',
  'liquibase',
  'dbmate',
  'goose',
  'atlas',
  'diesel',
  'sqlx',
  'alembic',
  'hasura',
  'sqitch',
];

/** Programs that run scripts and targets of the project. */
export const taskRunners = 'npm pnpm yarn bun make gmake just task mage rake invoke nx turbo composer'.split(' ');

const changing =
  /^(?:apply|create|replace|patch|edit|scale|autoscale|rollout|set|upgrade|install|deploy|deployments?|sync|promote|publish|up|run|rollback|redeploy|restart|use|use-context|set-context|push|submit|release|link|env|secrets?)(?::[\w:]+)?$/;

/** A word that names the production environment. */
export const production = /(?:^|[-_./:=@])(?:prod|production)(?:$|[-_./:=@,])/i;

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
    rule: 'infrastructure/removes',
    decision: 'ask',
    programs:
      'cdk cdktf sls serverless sam sst copilot eb kapp packer zappa chalice amplify eksctl kops kubeadm argocd flux rancher rke talosctl velero istioctl linkerd minikube kind k3d colima limactl vagrant multipass lxc incus virsh vboxmanage'.split(
        ' ',
      ),
    test: (command) => removesResource(command) || command.arguments.operands[1]?.text === 'rollback',
    unless: ['--dry-run|--help|-h'],
    why: 'It removes deployed services, a cluster or a virtual machine, with everything in it.',
  },
  {
    rule: 'infrastructure/deploy',
    decision: 'ask',
    programs: ['cdk', 'cdktf', 'sls', 'serverless', 'sam', 'sst', 'copilot', 'eb', 'zappa', 'chalice'],
    words: ['(deploy|bootstrap|rollback)', '(app|env|svc|job|pipeline) (init|deploy)'],
    unless: ['--no-execute|--no-execute-changeset|--dry-run|--noop|--help|-h'],
    why: 'It changes real machines and services.',
    instead: 'Show the person the difference, and let a person deploy it.',
  },
  {
    rule: 'infrastructure/ansible-state',
    decision: 'ask',
    programs: ['ansible', 'puppet', 'salt', 'salt-call'],
    argument:
      /(?:^|\s)(?:state|ensure)=(?:absent|stopped|restarted)\b|^(?:reboot|system\.(?:reboot|poweroff)|cmd\.run)$/,
    why: 'It deletes or stops something on the machines that it manages.',
    instead: 'Use --check first.',
  },
  {
    rule: 'infrastructure/production-script',
    decision: 'ask',
    programs: taskRunners,
    test: ({ arguments: { words } }) =>
      words.some((word) =>
        /(?:^|[:_.-])(?:deploy|release|publish|ship|destroy|rollback|migrate|down|teardown)(?:$|[:_.-])/.test(word),
      ) && words.some((word) => production.test(word)),
    unless: ['--dry-run|-n|--help|-h'],
    why: 'By its name, the script changes what runs in production.',
    instead: 'Prepare the change, and let a person apply it.',
  },
  {
    rule: 'infrastructure/production',
    decision: 'ask',
    programs: deployers,
    test: ({ program, arguments: { words, operands } }) =>
      words.some((word) => production.test(word)) &&
      !operands.some(({ text }) => /^(?:ls|list|get|show|inspect|logs|pull|diff|status|history)$/.test(text)) &&
      (/^(?:ansible-playbook|ansible|kubectx|vercel|now)$/.test(program) ||
        operands.slice(0, 3).some(({ text }) => changing.test(text))),
    unless: ['--dry-run|--check|--diff|--help|-h'],
    why: 'It changes what runs in production.',
    instead: 'Prepare the change, and let a person apply it.',
  },
];
