import type { CommandRule } from '../rule.js';

const dryRun = ['--dry-run|-n|--dryrun|--help|-h'];

/** Rules about what others see at once: a person approves it, though it destroys nothing. Not part of the usual rules. */
export const approvalRules: readonly CommandRule[] = [
  {
    rule: 'approval/push',
    decision: 'ask',
    programs: ['git', 'jj', 'hg', 'sl'],
    words: ['push', 'git push', 'subtree push', 'lfs push', 'send-email', 'svn dcommit'],
    unless: dryRun,
    why: 'It shows commits to others.',
  },
  {
    rule: 'approval/pull-request',
    decision: 'ask',
    programs: ['gh', 'glab', 'hub', 'az', 'tea', 'gt', 'bb'],
    words: [
      '(pr|mr|pull-request|pulls) (create|new|merge|close|reopen|ready|edit|review|comment|accept)', 'repos pr (create|update)', 'submit',
    ],
    unless: ['--dry-run|--help'],
    why: 'It opens or changes a pull request.',
  },
  {
    rule: 'approval/hub',
    decision: 'ask',
    programs: ['gh', 'glab', 'hub'],
    words: [
      'release (create|edit|upload)', 'repo (create|edit|fork|sync)', 'issue (create|close|comment|edit|transfer)',
      'workflow (run|enable|disable)', 'secret set', 'variable set', 'ci run', 'gist create',
    ],
    why: 'It changes something on the hub that others see.',
  },
  {
    rule: 'approval/hub-api',
    decision: 'ask',
    programs: ['gh', 'glab'],
    words: ['api'],
    test: ({ arguments: { valuesOf, words, has } }) =>
      [...valuesOf('-X'), ...valuesOf('--method')].some((method) => /^(?:post|put|patch|delete)$/i.test(method)) ||
      (words.every((word) => !/^-X|^--method/.test(word)) &&
        (has('-f') === 'yes' || has('-F') === 'yes' || has('--input') === 'yes') &&
        !words.includes('graphql')),
    why: 'It changes something on the hub that others see.',
  },
  {
    rule: 'approval/kubernetes',
    decision: 'ask',
    programs: ['kubectl', 'oc', 'helm', 'helmfile', 'argocd', 'kapp', 'skaffold', 'kustomize', 'flux'],
    words: [
      '(apply|create|replace|patch|edit|scale|autoscale|rollout|set|expose|label|annotate|upgrade|install|sync|deploy|run)',
      'app (sync|set|create)', 'reconcile *',
    ],
    test: ({ program, arguments: { operands } }) =>
      program !== 'kubectl' || !/^(?:status|history)$/.test(operands[1]?.text ?? '') || operands[0]?.text !== 'rollout',
    unless: ['--dry-run'],
    why: 'It changes what runs in a cluster.',
  },
  {
    rule: 'approval/infrastructure',
    decision: 'ask',
    programs: [
      'cdk', 'cdktf', 'sls', 'serverless', 'sam', 'sst', 'copilot', 'eb', 'nomad', 'zappa', 'chalice', 'amplify', 'ansible-playbook',
      'capistrano', 'cap', 'kamal', 'dokku', 'waypoint', 'fab',
    ],
    words: ['(deploy|bootstrap|up|push|publish|run|redeploy|setup|rollback)', '* deploy', '*'],
    test: ({ program, arguments: { operands } }) =>
      /^(?:ansible-playbook|fab)$/.test(program) ||
      operands.slice(0, 2).some(({ text }) => /^(?:deploy|bootstrap|up|push|publish|run|redeploy|setup|rollback)$/.test(text)),
    unless: ['--check|--dry-run|--no-execute|--noop|--help|--syntax-check|--list-hosts'],
    why: 'It deploys.',
  },
  {
    rule: 'approval/hosting',
    decision: 'ask',
    programs: [
      'vercel', 'netlify', 'fly', 'flyctl', 'firebase', 'wrangler', 'heroku', 'railway', 'render', 'surge', 'supabase', 'gh-pages', 'now',
      'cf', 'gcloud', 'az', 'aws', 'pulumi', 'convex', 'deployctl', 'modal', 'eas', 'fastlane', 'expo', 'shopify', 'ampx',
    ],
    words: [
      'deploy', 'deployments create', 'publish', 'up', 'pages (deploy|publish)', 'versions (deploy|upload)', 'app deploy', 'run deploy',
      'functions deploy', 'builds submit', 'container:release', 'container:push', 'db push', 'promote', 'rollback', 'webapp (deploy|up)',
      'containerapp (up|update)', 'lambda (update-function-code|update-function-configuration|publish-version)', 'ecs update-service',
      'cloudformation (deploy|create-stack|update-stack)', 'deploy *', 's3 (sync|cp)', 'amplify *', 'secrets set', 'config:set',
      'releases:rollback', 'submit', 'update', 'release', 'deliver', 'theme push', 'push', 'beta', 'app:deploy', 'hosting:clone',
    ],
    unless: ['--dry-run|--dryrun|--help'],
    test: ({ program, arguments: { operands } }) =>
      program !== 'aws' || operands[0]?.text !== 's3' || operands.at(-1)?.text.startsWith('s3://') === true,
    why: 'It deploys.',
  },
  {
    rule: 'approval/hosting-default',
    decision: 'ask',
    programs: ['vercel', 'now', 'surge', 'gh-pages'],
    test: ({ program, arguments: { operands } }) => operands.length === 0 || program === 'surge' || program === 'gh-pages',
    unless: ['--help|--version|-v'],
    why: 'Without another word it deploys.',
  },
  {
    rule: 'approval/deploy-script',
    decision: 'ask',
    programs: ['npm', 'pnpm', 'yarn', 'bun', 'make', 'just', 'task', 'mage', 'rake', 'invoke', 'nx', 'turbo', 'composer'],
    argument: /^(?:deploy|release|publish|ship)(?:[:_-](?:prod(?:uction)?|staging|live|all|[\w:-]+))?$/,
    why: 'It runs a script that deploys or releases.',
  },
  {
    rule: 'approval/deploy-file',
    decision: 'ask',
    test: ({ program }) => /^(?:deploy|release|publish)(?:[-_.]\w+)*$/.test(program),
    why: 'It runs a script that deploys or releases.',
  },
  {
    rule: 'approval/migration',
    decision: 'ask',
    programs: [
      'prisma', 'supabase', 'sequelize', 'sequelize-cli', 'typeorm', 'knex', 'flyway', 'liquibase', 'dbmate', 'goose', 'atlas', 'diesel',
      'sqlx', 'alembic', 'drizzle-kit', 'rails', 'rake', 'migrate', 'sqitch', 'hasura', 'mix',
    ],
    argument:
      /^(?:migrate|deploy|upgrade|downgrade|up|down|rollback|undo|redo|push|update|revert|db:migrate\S*|db:rollback|db:push|migration:(?:run|revert)|migrate:(?:latest|up|down|rollback)|ecto\.(?:migrate|rollback))$/,
    unless: ['--dry-run|--sql|--create-only'],
    why: 'It migrates a database.',
  },
  {
    rule: 'approval/migration-by-framework',
    decision: 'ask',
    programs: ['python', 'python3', 'php', 'manage.py', 'django-admin', 'artisan', 'dotnet', 'dotnet-ef'],
    argument: /^(?:migrate|migrate:(?:rollback|install)|doctrine:migrations:migrate)$/,
    unless: ['--plan|--check|--pretend|--dry-run'],
    why: 'It migrates a database.',
  },
];
