import { unknownText } from '../../read/words/field.js';
import type { CommandRule } from '../rule.js';
import { isLocalServer } from '../test-databases.js';
import { production } from './infrastructure.js';
import { affectsResource, changesResource, mutationDeletes, seemsToDelete } from './verbs.js';

/** Programs that manage what others use: clouds, hosting, storage, secrets, brokers. */
const managers =
  'aws awslocal gcloud az doctl hcloud linode-cli oci ibmcloud scw civo vultr-cli exo openstack ovhai ovhcloud aliyun tccli upctl govc juju azd b2 gsutil bq s3cmd s5cmd mc neonctl neon pscale planetscale turso atlas confluent databricks snow upstash modal coder auth0 okta stripe twilio ngrok heroku fly flyctl vercel netlify wrangler firebase supabase railway render surge dokku cf convex ghost pantheon platform upsun appwrite nhost deployctl now kamal vault bao op doppler bw bws infisical akeyless chamber pass gopass lpass conjur keyctl berglas consul etcdctl zkcli.sh nomad influx influxd curator rabbitmqadmin rabbitmqctl zookeeper-shell zookeeper-shell.sh nats rpk pulsar-admin patronictl repmgr nodetool velero etcdutl rbd rados gluster'.split(
    ' ',
  );

/** Their own words for the same. */
const also =
  /^(?:(?:add|remove)-iam-policy-binding|set-iam-policy|add-metadata|d|del|mv|rmdir|rmr|deleteall|(?:\w+:)?down|(?:access|members):add|maintenance:on|undelete|seal|rekey|generate-root|stop_app|force_reset|seek|reinit|change_password|set_permissions|set_user_tags|clear_permissions)$/;

/** Rules about command-line tools of cloud providers, and about services on the network. */
export const cloudRules: readonly CommandRule[] = [
  {
    rule: 'clouds/affects',
    decision: 'ask',
    programs: managers,
    test: (command) =>
      (affectsResource(command) || command.arguments.operands.slice(0, 4).some(({ text }) => also.test(text))) &&
      !(command.program === 'supabase' && command.arguments.operands[0]?.text === 'stop'),
    unless: ['--dry-run|--dryrun|--generate-cli-skeleton|--help|-h|--fake'],
    why: 'It deletes, stops or replaces something that others use.',
    instead: 'Show the person the command.',
  },
  {
    rule: 'clouds/s3-mirror',
    decision: 'ask',
    programs: ['aws', 'awslocal', 's3cmd', 'gsutil', 'mc', 'gcloud', 'azcopy'],
    words: ['s3 sync', 'sync', 'rsync', 'mirror', 'storage rsync'],
    flags: ['--delete|--delete-removed|-d|--remove|--delete-unmatched-destination-objects|--delete-destination'],
    unless: ['--dryrun|--dry-run|-n'],
    why: 'Files that are missing in the source are deleted in the target.',
    instead: 'Run it with --dryrun first.',
  },
  {
    rule: 'clouds/access',
    decision: 'ask',
    programs: ['aws', 'vault', 'bao'],
    words: [
      'policy write',
      'iam (attach-user-policy|attach-role-policy|put-user-policy|put-role-policy|create-access-key|create-login-profile|add-user-to-group|update-assume-role-policy)',
      's3api (put-bucket-policy|put-bucket-acl|put-object-acl|put-public-access-block)',
      'kms schedule-key-deletion',
      'ec2 authorize-security-group-ingress',
      'secretsmanager (update-secret|put-secret-value)',
    ],
    unless: ['--dry-run'],
    why: 'It changes access rights in the cloud.',
  },
  {
    rule: 'clouds/access-by-verb',
    decision: 'ask',
    programs: ['aws', 'awslocal', 'gcloud', 'az'],
    test: ({ arguments: { operands } }) =>
      operands
        .slice(1, 5)
        .some(({ text }) =>
          /^(?:attach|put|add|create|set|reset|update|upload|import|authorize|admin|change)-.*(?:polic(?:y|ies)|permissions?|access-key|login-profile|password|ingress|egress|acl|user-to-group|public-access-block|iam-policy-binding|resource-record-sets|versioning|lifecycle-configuration|encryption|policy-version|key-pair|ssh-public-key)$|^(?:create|invite)-(?:user|account)$/.test(
            text,
          ),
        ),
    unless: ['--dry-run'],
    why: 'It changes access rights, protections or addresses in the cloud.',
  },
  {
    rule: 'clouds/unprotects',
    decision: 'ask',
    test: (command) =>
      !command.isOrdinary && command.arguments.words.some((word) => opening.test(word)) && changesResource(command),
    unless: ['--dry-run'],
    why: 'It opens a resource to everyone, or removes its protection against deletion.',
    instead: 'Show the person the command.',
  },
  {
    rule: 'clouds/scales-to-zero',
    decision: 'ask',
    test: (command) =>
      !command.isOrdinary &&
      command.arguments.operands.slice(0, 4).some(({ text }) => /scal|resiz|update|concurrency|^set/i.test(text)) &&
      command.arguments.words.some((word, index, words) =>
        word === '0'
          ? /(?:count|capacity|size|nodes?|replicas|instances|workers?|concurrent-executions|max)$/.test(
              words[index - 1] ?? '',
            )
          : /^[\w-]+=0$|(?:min|max|desired)Size=0\b/.test(word),
      ),
    unless: ['--dry-run'],
    why: 'It stops all instances of a service.',
  },
  {
    rule: 'clouds/access-of-azure',
    decision: 'ask',
    programs: ['az'],
    words: ['role assignment create', 'ad (sp|app|user|group) *', 'keyvault set-policy', 'network nsg *'],
    test: ({ arguments: { operands } }) => !/^(?:list|show)/.test(operands[2]?.text ?? operands[1]?.text ?? ''),
    unless: ['--help|-h'],
    why: 'It changes access rights in the cloud.',
  },
  {
    rule: 'clouds/seems-to-delete',
    decision: 'ask',
    // A variable selects the database of the tests for `db:drop`.
    test: (command) =>
      !command.isOrdinary &&
      seemsToDelete(command) &&
      !(
        command.environment === 'test' &&
        !command.isElsewhere &&
        command.servers.every(isLocalServer) &&
        /^(?:db|database|schema):/.test(command.arguments.operands[0]?.text ?? '')
      ),
    unless: ['--dry-run|--dryrun|--help|-h|--check|--simulate'],
    why: 'By its words, it deletes something that others may use.',
    instead: 'Show the person the command.',
  },
  {
    rule: 'clouds/deletes-tracked',
    decision: 'ask',
    programs: ['jira', 'linear', 'trello', 'asana', 'notion', 'slack'],
    words: ['(delete|remove)', '* (delete|remove|archive)'],
    why: 'It deletes what others read and edit.',
    instead: 'Show the person the command.',
  },
  {
    rule: 'clouds/remote-storage',
    decision: 'ask',
    programs: ['rclone', 'azcopy', 'restic', 'borg'],
    words: [
      '(delete|deletefile|purge|sync|cleanup|rmdir|rmdirs|move|moveto|remove|rm|forget|prune|dedupe|compact|repo-delete|rdelete)',
    ],
    unless: ['-n|--dry-run'],
    why: 'It deletes files in a remote store.',
    instead: 'Run it with --dry-run first.',
  },
  {
    rule: 'clouds/payments',
    decision: 'ask',
    programs: ['stripe'],
    words: ['(refunds|payouts|transfers) create', '* (create|update|capture|cancel|pay)'],
    test: ({ arguments: { operands, has } }) =>
      /^(?:refunds|payouts|transfers)$/.test(operands[0]?.text ?? '') || has('--live') === 'yes',
    why: 'It moves money.',
    instead: 'Show the person the command.',
  },
  {
    rule: 'clouds/http-delete',
    decision: 'ask',
    programs: ['curl', 'http', 'https', 'xh', 'xhs', 'wget', 'wget2', 'curlie'],
    test: ({ program, isElsewhere, input, arguments: { words, operands, valuesOf } }) => {
      const methods = [
        ...['-X', '--request', '--method'].flatMap(valuesOf),
        ...words.flatMap((word) => /^-[A-Za-z]*X([A-Za-z]+)$/.exec(word)?.[1] ?? []),
        ...operands.slice(0, 1).map(({ text }) => text),
      ];
      const isDelete = methods.some((method) => /^(?:delete|purge)$/i.test(method));
      const isChange =
        methods.some((method) => /^(?:put|patch|post)$/i.test(method)) ||
        (hasBody(program, words) && !methods.some((method) => /^(?:get|head)$/i.test(method)));
      const isMutation = [...words, input ?? ''].some(mutationDeletes);
      return operands.some(
        ({ text }) =>
          (isElsewhere || isShared(text)) &&
          (isDelete ||
            isMutation ||
            /\/_delete_by_query\b|\/_close\b/.test(text) ||
            (isChange && (production.test(text) || movesMoney.test(text)))),
      );
    },
    why: 'It deletes a resource of a service, changes a production service, or moves money, through its API.',
    instead: 'Show the person the request.',
  },
];

/** Arguments that open a resource to everyone, or that remove its protection. */
const opening =
  /(?:^|[=,:"])(?:0\.0\.0\.0\/0|::\/0|allUsers|allAuthenticatedUsers|public-read(?:-write)?)(?:$|[,:"])|^--(?:publicly-accessible|no-deletion-protection|no-disable-api-termination|no-enable-deletion-protection|no-termination-protection|skip-final-snapshot|allow-unauthenticated|no-[\w-]*protection[\w-]*)$|^--(?:principal|source-address-prefixes)=?\*?$|^(?:--mode=)?Complete$|^--public-access=(?!off)|^--allow=all$|^--allow-blob-public-access=?(?:true)?$|deletion-?protection=false|endpointPublicAccess=true|PointInTimeRecoveryEnabled=false|^--no-backup$/i;

/** An address that moves money, unless it is one for tests. */
const movesMoney =
  /^(?!(?:\w+:\/\/)?(?:[^/]{0,200}[.@])?(?:api-)?(?:test|staging|sandbox|dev|qa|mock)(?:-api)?[.:/])\S*\/(?:refunds?|payouts?|transfers?)(?:[/?#]|$)/i;

/** Returns whether a program sends POST because its options contain a body. */
const hasBody = (program: string, words: readonly string[]): boolean =>
  !words.some((word) => /^-[a-zA-Z]*G$|^--get$/.test(word)) &&
  words.some((word) =>
    (program.startsWith('curl') ? /^-[a-zA-Z]*[dF]|^--(?:data|json|form)/ : /^--(?:post|body)-(?:data|file)/).test(
      word,
    ),
  );

/** Ports of search engines and databases, whose data is shared even on this machine. */
const dataPorts = /:(?:9200|9201|5984|8086|6333|8108|7700|8983)(?:\/|$)/;

const thisMachine =
  /^(?:\w+:\/\/)?(?:[^/@\s]*@)?(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\]|host\.docker\.internal|[\w.-]+\.(?:localhost|(?<!\.cluster\.)local|test))?(?::\d+)?(?:[/?#]|$)/i;

/** Returns whether an operand is the address of a service that others use. */
const isShared = (operand: string): boolean =>
  dataPorts.test(operand) ||
  ((/^\w+:\/\/|^[\w-]+(?:\.[\w-]+)+(?:[:/]|$)/.test(operand) || operand.startsWith(`${unknownText}/`)) &&
    !thisMachine.test(operand));
