import { options, problemAt, type Check } from './option-grammar.js';

/** Lists and descriptions of AWS. Commands that get an object may write it into a file. */
export const cloudReads: Check = (args) => {
  const words = args.map(({ value }) => value ?? '');
  const isReading =
    /^[a-z][a-z0-9-]*$/.test(words[0] ?? '') &&
    (words[0] === 's3'
      ? words[1] === 'ls'
      : /^(?:list|describe)-[a-z0-9-]+$|^get-caller-identity$/.test(words[1] ?? ''));
  if (!isReading) return problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only');
  return options({
    long: 'output= query= region= profile= no-cli-pager no-paginate max-items= page-size= filters= filter= prefix= recursive human-readable summarize',
  })(args);
};

/** Lists and descriptions of Google Cloud and Azure: a verb behind words that name a kind of resource. */
export const verbReads =
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
      long: 'format= filter= limit= sort-by= uri project= region= zone= location= output= query= resource-group= name= subscription= all',
    })(args);
  };

/** Words of Google Cloud and Azure that name a kind of resource. */
export const ofGoogle =
  'alpha beta compute instances disks networks subnets firewall-rules addresses images snapshots machine-types zones regions run services revisions jobs functions sql databases users backups container clusters node-pools projects iam service-accounts roles keys auth config configurations secrets versions storage buckets artifacts repositories docker pubsub topics subscriptions logging logs sinks dns managed-zones record-sets app builds scheduler tasks queues';
export const ofAzure =
  'account group vm vmss disk snapshot image network vnet subnet nsg public-ip lb dns zone storage container blob share webapp functionapp appservice plan acr repository aks nodepool sql mysql postgres flexible-server server db cosmosdb redis keyvault role assignment definition ad user sp app monitor resource deployment';

/** Commands of Redis that read keys. */
export const redisReads: Check = (args) => {
  const words = args.map(({ value }) => value ?? '');
  const start = words.findIndex((word, index) => !word.startsWith('-') && !/^-[hpn]$/.test(words[index - 1] ?? ''));
  return /^(?:ping|get|mget|info|keys|scan|ttl|pttl|type|exists|dbsize|strlen|llen|lrange|hget|hgetall|hkeys|smembers|scard|zrange|zcard)$/i.test(
    words[start] ?? '',
  )
    ? options({ values: 'hpn', long: 'raw no-raw csv' })(args)
    : problemAt(args, Math.max(start, args.length > 0 ? 0 : -1), 'is not known to be read-only');
};
