import { isVirtualMachine } from '../../read/commands/engines.js';
import type { RuleContext } from '../rule.js';

/** Verbs that end what they name. */
const ending =
  'delete|destroy|terminate|purge|erase|wipe|drop|decommission|deprovision|undeploy|teardown|nuke|deregister|obliterate|failover|switchover|drain|evict|revoke|expunge|assassinate|(?:hard|factory)-?reset';

/** Verbs that end what they name, or only take it out of use. */
const removing =
  'remove|rm|rb|reset|disable|detach|disassociate|cancel|suspend|release|deallocate|deactivate|unregister|uninstall|empty|leave|clear|unset|flush|prune|clean|forget|archive|down|gc|undefine|unregistervm';

/** Verbs that interrupt or replace a running resource. */
const disturbing =
  'stop|reboot|restart|abort|close|kill|killall|shutdown|power-?off|rebuild|failover|swap|rollback|restore|modify|rotate|replace|downgrade|unassign|untag|promote|demote|reimage|redeploy|evict';

/** `delete`, `delete-object`, `batch-delete`, `snapshot-delete`, `apps:delete`; `delete.topic` with a dot. */
const oneOf = (verbs: string, separators = '-_:.'): RegExp =>
  new RegExp(
    `^(?:[\\w-]+[:.])*(?:(?:(?:admin|batch|bulk|force)-)?(?:${verbs})(?:[${separators}].*)?|[\\w-]+-(?:${verbs}))$`,
  );

const ends = oneOf(ending);
// With a dot, these are names of files: `release.zip`, `archive.tar`, `reset.css`.
const removes = oneOf(removing, '-_:');
/** A verb that is one part of a word: the other part is what it removes. */
const removingPart = new RegExp(`(?:^|[-_:.])(?:${removing})(?=$|[-_:.])`);
const affects = oneOf(`${ending}|${removing}|${disturbing}`);

/** Verbs that change nothing. */
const reading =
  /^(?:get|list|ls|describe|show|view|wait|watch|logs?|status|help|search|find|explain|diff|plan|validate|simulate|check|preview|inspect|tail|serve|trigger|events|query|console|read|scan|analyze|dev|cache)(?:[-_:.].*)?$|[-_:.]cache$/;

/** Words that are verbs or kinds of resources: `logs delete`. */
const resources = /^(?:logs?|events|query)$/;

/** Other words behind which verbs are names or values. */
const harmless =
  /^(?:create|new|add|init|lint|test|cp|copy|put|deploy|run|exec|invoke|open|edit|generate|start|ask|chat|print|format|fmt|completions?|sync|ssh|emulators?)(?:[-_:.].*)?$/;

/** Things whose removal affects others. */
const things =
  'accounts?|acls?|apps?|applications?|backups?|buckets?|clusters?|config|containers?|factory|databases?|db|deployments?|domains?|dns|env(?:ironment)?s?|groups?|hosts?|images?|index(?:es)?|indices|instances?|keys?|machines?|members?|monitors?|namespaces?|nodes?|org(?:anization)?s?|passwords?|pods?|polic(?:y|ies)|projects?|queues?|records?|registry|releases?|repos?|roles?|schemas?|secrets?|servers?|services?|sites?|snapshots?|stacks?|streams?|tables?|tags?|teams?|tenants?|tokens?|topics?|tunnels?|users?|vms?|volumes?|webhooks?|zones?|artifacts?|branch(?:es)?|certificates?|certs?|channels?|customers?|datasets?|disks?|firewalls?|functions?|gateways?|jobs?|messages?|metadata|models?|networks?|partitions?|pipelines?|replicas?|subscriptions?|workers?|workflows?';
const shared = new RegExp(`(?:^|[-_:.])(?:${things})(?:$|[-_:.])`);

/** A verb and what it ends in one word: `deletetable`, `stopall`, `remove_all`. */
const joined = new RegExp(
  `^(?:(?:delete|destroy|purge|erase|wipe|drop|remove|reset|stop|clear)(?:all|${things})|(?:remove|rm|reset|revoke|disable|uninstall|stop|mute)[-_]all)$`,
);

/** Options by which a program does not ask, or takes everything. */
const forcing =
  /^(?:-[fy]|--(?:force|yes|assume-yes|all|confirm|no-confirm|auto-approve|no-prompt|non-interactive|purge))$/;

/** Options that delete. */
const deleting =
  /^-(?:(?:delete|destroy|purge|erase|wipe|remove|uninstall|unregister)(?:[A-Z]\w*)?|(?:clear|reset|kill|drop)[A-Z]\w*)$|^-(?:rmr?|skipTrash)$|^--(?:delete|purge|destroy|wipe|erase|drop|delete-(?:all|config|data|records|topics?|volumes?)|remove-all|reset-all|reset-offsets|factory-reset|all-runners|delete-(?:secret-(?:and-public-)?)?keys?)$/;

/** Verbs that stop a whole machine. */
const stopsMachine = /^(?:reboot|shutdown|power-?(?:off|down|cycle))$/;

/** A name such as `deleteUser` or `userDelete`. */
const endingName =
  /(?:^|[^\w$])(?:delete|destroy|purge|erase|wipe|drop|remove|revoke|terminate|archive)[A-Z_({]|[a-z\d](?:Delete|Destroy|Purge|Erase|Wipe|Drop|Remove|Revoke|Terminate|Archive)(?:[A-Z\d]|[^\w])/;

/** Returns whether a GraphQL document has a mutation that deletes, by the names of its fields. */
export const mutationDeletes = (text: string): boolean => {
  const at = /(?:^|[^\w])mutation\b(?!["':])/.exec(text)?.index;
  return at !== undefined && endingName.test(text.slice(at));
};

/** Number of words in which the subcommand is expected. */
const maxSubcommands = 5;

/** The subcommand: the words before a path, an address, or a word behind which verbs are names. */
const subcommandOf = ({ program, arguments: { operands } }: RuleContext): readonly string[] => {
  if (operands.at(-1)?.text === 'help') return [];
  // Images of a cluster on this machine are copies.
  if (operands[0]?.text === 'image' && isVirtualMachine(program)) return [];
  const words = operands
    // Services have names such as `logs` and `run`.
    .slice(/^(?:aws|awslocal|gcloud)$/.test(program) ? 1 : 0)
    .filter(({ isMaybeValue }, index) => index < 2 || !isMaybeValue)
    .slice(0, maxSubcommands)
    .map(({ text }) => text.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase());
  const end = words.findIndex(
    (word, index) =>
      !/^[a-z][\w:.-]*$/.test(word) ||
      (reading.test(word) && !(resources.test(word) && /^(?:delete|destroy|purge)$/.test(words[index + 1] ?? ''))) ||
      (harmless.test(word) && !affects.test(word)),
  );
  // The settings of a program are its own.
  return (end === -1 ? words : words.slice(0, end)).filter(
    (word) => word !== 'unset' || !operands.some(({ text }) => text === 'config'),
  );
};

/** Returns whether the subcommand of a program for remote resources ends, interrupts or replaces one. */
export const affectsResource = (command: RuleContext): boolean =>
  subcommandOf(command).some((word) => affects.test(word));

/** Words behind `--` belong to another program. */
const hasDeletingOption = ({ arguments: { words } }: RuleContext): boolean => {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? undefined : end).some((word) => deleting.test(word));
};

/** Returns whether the subcommand removes a resource, or takes it out of use. */
export const removesResource = (command: RuleContext): boolean =>
  subcommandOf(command).some((word) => ends.test(word) || removes.test(word)) || hasDeletingOption(command);

/** Returns whether the subcommand does more than to read or describe. */
export const changesResource = ({ arguments: { operands } }: RuleContext): boolean =>
  !operands.slice(0, maxSubcommands).some(({ text }) => reading.test(text));

/** Returns whether the first word of a subcommand is a verb that changes nothing. */
export const onlyReads = ({ arguments: { operands } }: RuleContext): boolean => reading.test(operands[0]?.text ?? '');

/** Returns whether the words of any program seem to delete a resource that others use. */
export const seemsToDelete = (command: RuleContext): boolean => {
  const { program, arguments: parsed } = command;
  const words = subcommandOf(command);
  if (words.some((word) => ends.test(word) || stopsMachine.test(word) || joined.test(word))) return true;
  if (hasDeletingOption(command)) return true;
  if (/-(?:uninstall|killall|destroy|delete-\w+)(?:\.sh)?$|^[a-z]+delete$/.test(program)) return true;
  if (words.length === 1 && words[0] === 'uninstall' && parsed.operands.length === 1) return true;
  if (shared.test(program.replace(/\.\w+$/, '')) && parsed.words.includes('--remove')) return true;
  const verb = words.find((word) => removes.test(word));
  return (
    verb !== undefined &&
    (/[:-]/.test(verb)
      ? /(?:^|:)(?:remove|rm|unset|revoke|disable|detach|forget|uninstall)(?:$|-)/.test(verb) ||
        shared.test(verb.replace(removingPart, ''))
      : words.some((word) => word !== verb && shared.test(word)) || parsed.words.some((word) => forcing.test(word)))
  );
};
