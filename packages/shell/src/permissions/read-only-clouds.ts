import { needing } from './argument-checks.js';
import { anyOptions, each, listsOnly, options, problemAt, subcommands, type Check } from './option-grammar.js';
import { orPrints, orVersion } from './program-versions.js';

/** Lists and descriptions of AWS: no option of them writes a file or runs a program. */
const cloudReads: Check = (args) => {
  const words = args.map(({ value }) => value ?? '');
  const [service = '', command = ''] = words;
  const isReading =
    /^[a-z][a-z0-9-]*$/.test(service) &&
    (/^(?:list|describe|head)-[a-z0-9-]+$/.test(command) ||
      /^(?:s3 ls|logs tail|logs filter-log-events|dynamodb (?:scan|query)|configure list)$/.test(
        `${service} ${command}`,
      ) ||
      getting.test(`${service} ${command}`));
  return isReading ? undefined : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only');
};

/**
 * Commands that get a description. Those of other services may store a result in a file, and some display secrets or create
 * credentials.
 */
const getting =
  /^(?:(?:iam|ec2|lambda|cloudwatch|cloudformation) get-(?![a-z-]*(?:token|credentials|password))[a-z-]+|s3api get-(?:bucket|public)-[a-z-]+|logs get-log-events|sts get-caller-identity)$/;

/** Lists and descriptions of Google Cloud and Azure: a verb behind words that name a kind of resource. */
const verbReads =
  (kinds: string, verbs: RegExp): Check =>
  (args) => {
    const known = new Set(kinds.split(' '));
    const words = args.map(({ value }) => value ?? '');
    const end = words.findIndex((word) => !known.has(word));
    if (end < 1 || !verbs.test(words[end] ?? '')) {
      return problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only');
    }
    return options({
      values: 'ogn',
      long: 'format= filter= limit= sort-by= uri project= region= zone= location= output= query= resource-group= name= subscription= all freshness= service=',
    })(args);
  };

/** Words of Google Cloud and Azure that name a kind of resource. */
const ofGoogle =
  'alpha beta compute instances disks networks subnets firewall-rules addresses images snapshots machine-types zones regions run services revisions jobs functions sql databases users backups container clusters node-pools projects iam service-accounts roles keys auth config configurations secrets versions storage buckets artifacts repositories docker pubsub topics subscriptions logging logs sinks dns managed-zones record-sets app builds scheduler tasks queues';
const ofAzure =
  'account group vm vmss disk snapshot image network vnet subnet nsg public-ip lb dns zone storage container blob share webapp functionapp appservice plan acr repository aks nodepool sql mysql postgres flexible-server server db cosmosdb redis keyvault role assignment definition ad user sp app monitor resource deployment';

/** Commands of Redis that read keys. */
const redisReads: Check = (args) => {
  const words = args.map(({ value }) => value ?? '');
  if (words.includes('--scan')) return options({ values: 'hpn', long: 'scan pattern= count=', operands: 0 })(args);
  const start = words.findIndex((word, index) => !word.startsWith('-') && !/^-[hpn]$/.test(words[index - 1] ?? ''));
  return /^(?:ping|get|mget|info|keys|scan|ttl|pttl|type|exists|dbsize|strlen|llen|lrange|hget|hgetall|hkeys|smembers|scard|zrange|zcard)$/i.test(
    words[start] ?? '',
  )
    ? options({ values: 'hpn', long: 'raw no-raw csv' })(args)
    : problemAt(args, Math.max(start, args.length > 0 ? 0 : -1), 'is not known to be read-only');
};

const kubectl = {
  flags: 'Awf',
  values: 'nolLc',
  long: 'namespace= output= selector= all-namespaces show-labels sort-by= field-selector= container= context= tail= since= previous timestamps all-containers no-headers limit-bytes= follow watch short client recursive api-version= prefix raw=',
};
const docker = {
  flags: 'aqnsflt',
  values: 'n',
  long: 'all filter= format= no-trunc quiet last= latest size tail= since= until= timestamps details follow no-stream type= human verbose services digests',
};
const helm = {
  flags: 'aAdqr',
  values: 'nofm',
  long: 'all all-namespaces namespace= output= filter= max= revision= short deployed failed kube-context=',
};
const hub = {
  flags: 'cvH',
  values: 'RLsalqjbtASu',
  long: 'repo= limit= state= author= assignee= label= json= jq= template= comments log log-failed job= search= head= base= branch= exit-status verbose name-only patch color= user= status= workflow= event= commit= created= order= sort= required watch mention= milestone= app= draft exclude-drafts archived visibility= language= topic= source fork no-archived show-token',
};

/** `docker exec name ls`: a program in a container that never writes, regardless of its options. */
const containerCheck =
  (harmless: readonly string[]): Check =>
  (args) => {
    const words = args.map(({ value }) => value ?? '');
    let at = 0;
    const skip = (): void => {
      while (/^-(?:[itT]|it|ti|[uwnc])$/.test(words[at] ?? '')) at += /^-[uwnc]$/.test(words[at] ?? '') ? 2 : 1;
    };
    skip();
    const isNamed = /^[\w.][\w./-]*$/.test(words[at] ?? '');
    at += 1;
    skip();
    if (words[at] === '--') at += 1;
    return isNamed && harmless.includes(words[at] ?? '')
      ? undefined
      : problemAt(args, Math.min(at, args.length - 1), 'is not known to be read-only');
  };

/** Commands that Docker and Podman have in common. */
const containerReads = (inContainer: Check): Readonly<Record<string, Check>> => ({
  ...each('ps images logs version info top port history diff stats events search', options(docker)),
  inspect: anyOptions,
  exec: inContainer,
  manifest: listsOnly('inspect', { flags: 'v' }),
  ...each(
    'container image network volume',
    subcommands(each('ls list inspect logs top port diff history stats', options(docker))),
  ),
  system: subcommands({ df: options(docker), info: options(docker) }),
});

/** A field of a query of GraphQL: no content of a file, and no mutation. */
const queryField = /^(?!query=)[A-Za-z]\w*=(?!@)|^query=\s*(?:query\b|\{)(?![\s\S]*\bmutation\b)/;

/** `gh api`: without a field, which makes the method POST, or with the fields of a query. */
const hubRequest: Check = (args) => {
  const isQuery =
    args[0]?.value === 'graphql' &&
    args.every(({ start, value }, index) => {
      if (/^-[fF]$/.test(args[index - 1]?.value ?? '')) return value !== undefined && queryField.test(value);
      return !/^-[A-Za-z]*[fF]./.test(start) && !/^-[A-Za-z]+[fF]/.test(start);
    });
  return options({
    flags: 'i',
    values: isQuery ? 'qtfF' : 'qt',
    long: 'jq= template= paginate slurp include',
  })(args);
};

/**
 * The commands for containers, clusters, clouds and hubs that only read, with a check of their arguments.
 *
 * @param harmless - programs that never write, which may run in a container
 */
export const remoteCommands = (harmless: readonly string[]): Readonly<Record<string, Check>> => {
  const inContainer = containerCheck(harmless);
  return {
    aws: orVersion(cloudReads),
    // The provider of `podman compose` is a program of the user's choice.
    podman: orVersion(subcommands(containerReads(inContainer))),
    docker: orVersion(
      subcommands({
        ...containerReads(inContainer),
        buildx: listsOnly('ls version du inspect', {}),
        context: subcommands(each('ls show inspect', options(docker))),
        compose: subcommands({
          ...each('ps logs config images ls top port version', options(docker)),
          exec: inContainer,
        }),
      }),
    ),
    gh: orVersion(
      subcommands({
        api: hubRequest,
        auth: subcommands({ status: options({ values: 'h', long: 'hostname= active' }) }),
        issue: subcommands(each('list view status', options(hub))),
        pr: subcommands(each('list view status diff checks', options(hub))),
        release: subcommands(each('list view', options(hub))),
        repo: subcommands(each('list view', options(hub))),
        run: subcommands(each('list view', options(hub))),
        search: subcommands(each('code commits issues prs repos', options(hub))),
        workflow: subcommands(each('list view', options(hub))),
        ...each('label secret variable cache gist extension ruleset', listsOnly('list', hub)),
        status: options(hub),
      }),
    ),
    glab: orVersion(
      subcommands({
        ...each('issue mr', listsOnly('list view diff', hub)),
        ci: listsOnly('list status', hub),
        release: listsOnly('list view', hub),
        repo: listsOnly('view', hub),
      }),
    ),
    gcloud: orVersion(verbReads(ofGoogle, /^(?:list|describe|get|get-value|get-iam-policy|read)$/)),
    az: orVersion(verbReads(ofAzure, /^(?:list|show)$/)),
    helm: orVersion(
      subcommands({
        ...each('list ls status history', options(helm)),
        get: listsOnly('all hooks manifest metadata notes values', helm),
        ...each(
          'search repo',
          listsOnly('repo hub list', { flags: 'lr', values: 'o', long: 'output= versions regexp' }),
        ),
        env: options({}),
      }),
    ),
    kubectl: subcommands({
      ...each('get describe top explain', options({ ...kubectl, flags: 'Aw' })),
      ...each('logs', options({ ...kubectl, flags: 'fp' })),
      ...each('version cluster-info api-resources api-versions', options(kubectl)),
      config: subcommands(
        each('current-context get-contexts get-clusters view', options({ values: 'o', long: 'output= minify' })),
      ),
      auth: subcommands({ 'can-i': options({ ...kubectl, long: `${kubectl.long} list` }), whoami: options(kubectl) }),
      exec: inContainer,
      rollout: subcommands(each('status history', options({ ...kubectl, long: `${kubectl.long} timeout= watch=` }))),
    }),
    'redis-cli': orPrints(redisReads),
    ...each(
      'terraform tofu',
      orVersion(
        subcommands({
          // To show a resource, it runs the provider that the folder contains.
          state: subcommands({ list: options({ long: '-no-color -id= -state=' }) }),
          workspace: subcommands(each('list show', options({ operands: 0 }))),
          fmt: needing(/^-check$/, options({ long: '-check -diff -recursive -no-color' })),
          output: options({ long: '-json -raw -no-color', operands: 1 }),
        }),
      ),
    ),
  };
};
