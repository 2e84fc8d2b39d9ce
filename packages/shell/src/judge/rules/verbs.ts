import type { RuleContext } from '../rule.js';

/** Verbs that end what they name. */
const ending =
  'delete|destroy|terminate|purge|erase|wipe|drop|decommission|deprovision|undeploy|teardown|nuke|deregister|obliterate';

/** Verbs that end what they name, or only take it out of use. */
const removing =
  'remove|rm|rb|reset|revoke|disable|detach|disassociate|cancel|suspend|release|deallocate|deactivate|unregister|uninstall|empty|leave|clear|unset|flush|prune|clean|rollback|archive';

/** `delete`, `delete-object`, `batch-delete`, `apps:delete`, `phone-numbers:remove`. */
const oneOf = (verbs: string): RegExp =>
  new RegExp(`^(?:[\\w-]+[:.])*(?:batch|bulk|force|admin|hard|permanent|mass)?-?(?:${verbs})(?:[-_:.][\\w:.-]*)?$`);

const ends = oneOf(ending);
const removes = oneOf(removing);

/** Verbs that change nothing. */
const reading =
  /^(?:get|list|ls|describe|show|view|wait|watch|logs?|status|help|search|find|explain|diff|plan|validate)(?:[-_:.].*)?$/;

/** Words behind which verbs are names or values. */
const harmless =
  /^(?:get|list|ls|describe|show|view|wait|watch|logs?|status|help|create|new|add|init|search|find|explain|diff|plan|validate|lint|test|cp|copy|put|deploy|run|exec|invoke|open|edit|generate|start|ask|chat|print|format|fmt|cache|completions?)(?:[-_:.].*)?$/;

/** Things whose removal affects others. */
const shared =
  /(?:^|[-_:.])(?:accounts?|apps?|backups?|buckets?|clusters?|config|databases?|db|deployments?|domains?|dns|env(?:ironment)?s?|groups?|hosts?|images?|index(?:es)?|indices|instances?|keys?|machines?|members?|monitors?|namespaces?|nodes?|org(?:anization)?s?|polic(?:y|ies)|projects?|queues?|records?|registry|releases?|repos?|roles?|schemas?|secrets?|servers?|services?|sites?|snapshots?|stacks?|streams?|tables?|tags?|teams?|tenants?|tokens?|topics?|tunnels?|users?|vms?|volumes?|webhooks?|zones?)(?:$|[-_:.])/;

const forcing =
  '-f|--force|-y|--yes|--assume-yes|--all|--confirm|--no-confirm|--auto-approve|--no-prompt|--non-interactive|--purge'.split(
    '|',
  );

/** Number of words in which the subcommand is expected. */
const maxSubcommands = 5;

/** The subcommand: the words before a path, an address, or a word behind which verbs are names. */
const subcommandOf = ({ arguments: { operands } }: RuleContext): readonly string[] => {
  const words = operands
    .slice(0, maxSubcommands)
    .map(({ text }) => text.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase());
  const end = words.findIndex((word) => !/^[a-z][\w:.-]*$/.test(word) || harmless.test(word));
  return end === -1 ? words : words.slice(0, end);
};

/** Returns whether the subcommand does more than to read or describe. */
export const changesResource = ({ arguments: { operands } }: RuleContext): boolean =>
  !operands.slice(0, maxSubcommands).some(({ text }) => reading.test(text));

/** Returns whether the subcommand of any program seems to delete a resource that others use. */
export const seemsToDelete = (command: RuleContext): boolean => {
  const words = subcommandOf(command);
  if (words.some((word) => ends.test(word))) return true;
  const verb = words.find((word) => removes.test(word));
  if (verb === undefined) return false;
  return (
    /:(?:remove|rm|unset|revoke|disable|detach)/.test(verb) ||
    words.some((word) => shared.test(word)) ||
    forcing.some((option) => command.arguments.has(option) === 'yes')
  );
};
