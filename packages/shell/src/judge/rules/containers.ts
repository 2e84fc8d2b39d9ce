import type { Zone } from '../../read/files/paths.js';
import type { CommandRule } from '../rule.js';

const engines = ['docker', 'podman', 'nerdctl'];
const compose = ['docker', 'docker-compose', 'podman', 'podman-compose'];

/** Paths of the machine that no container needs. */
const ofMachine: ReadonlySet<Zone> = new Set(['root', 'system', 'home', 'secret', 'above', 'device']);

/**
 * The folder of the machine that `-v /a:/b` or `--mount source=/a,…` mounts in a container; a harmless one for other
 * words.
 */
const mounted = (word: string): string => {
  const [, source] =
    /^(?:-v|--volume=)?(\/[^:]*):\//.exec(word) ?? /(?:^|,|=)(?:source|src)=(\/[^,]*)/.exec(word) ?? [];
  return source ?? '/dev/null';
};

/** Rules about containers. */
/** A substitution that lists the containers of one name, image or label. */
const listsSome =
  /^"?\$\((?:docker|podman|nerdctl) (?:ps|container ls) [^|;&]*(?:--filter|-[a-z]*f)[ =]["']?(?:name|ancestor|label)=[\w./:=-]+["']?\)"?$/;

export const containerRules: readonly CommandRule[] = [
  {
    rule: 'containers/prune',
    decision: 'ask',
    programs: engines,
    words: ['(system|volume|image|container|network|builder|buildx) prune', 'system reset', 'machine rm'],
    why: 'It deletes everything that no container currently uses, including data.',
    instead: 'Remove the intended objects by name.',
  },
  {
    rule: 'containers/remove-volume',
    decision: 'ask',
    programs: engines,
    words: ['volume (rm|remove)'],
    why: 'It deletes the data of a container.',
  },
  {
    rule: 'containers/remove-many',
    decision: 'ask',
    programs: engines,
    words: ['(rm|rmi|kill|stop)', '(container|image) (rm|kill|stop|remove)'],
    test: ({ arguments: { operands }, madeBy, reads, shown }) =>
      operands.some(({ text }) => /\u{FFFF}/u.test(text)) &&
      (madeBy.length > 0 || reads.length > 0) &&
      !shown.some((word) => listsSome.test(word)),
    why: 'It removes or stops all matching containers, including those of other projects.',
    instead: 'Name the containers.',
  },
  {
    rule: 'containers/remove-all',
    decision: 'ask',
    programs: [...engines, 'crictl', 'ctr', 'buildah'],
    words: ['(rm|rmi|kill|stop|rmp|stopp)', '(container|image|pod|volume) (rm|kill|stop|remove)'],
    flags: ['-a|--all|--prune'],
    why: 'It removes or stops all of them, including those of other projects.',
    instead: 'Name the containers.',
  },
  {
    rule: 'containers/remove-with-data',
    decision: 'ask',
    programs: engines,
    words: ['rm', 'container (rm|remove)'],
    flags: ['-v|--volumes'],
    why: 'It deletes the data of the container too.',
  },
  {
    rule: 'containers/compose-down',
    decision: 'ask',
    programs: compose,
    words: ['compose (down|rm)', '(down|rm)'],
    flags: ['-v|--volumes|--rmi'],
    test: ({ program, arguments: { operands } }) =>
      program.endsWith('-compose') || operands.some(({ text }) => text === 'compose'),
    why: 'It deletes the volumes with the data of the services.',
    instead: 'Use docker compose down without -v.',
  },
  {
    rule: 'containers/machine-access',
    decision: 'ask',
    programs: engines,
    words: ['(run|create)', 'container (run|create)'],
    test: ({ arguments: { words }, zoneOf }) =>
      words.some(
        (word) =>
          /^--privileged$|^--(?:pid|ipc|userns|uts)=host$|^(?:--cap-add=)?(?:SYS_ADMIN|SYS_PTRACE|SYS_MODULE|ALL)$|unconfined$/.test(
            word,
          ) || ofMachine.has(zoneOf(mounted(word))),
      ) || words.some((word) => mounted(word).endsWith('/docker.sock')),
    why: 'The container can change its host.',
    instead: 'Mount the folder of the project only.',
  },
  {
    rule: 'containers/swarm',
    decision: 'ask',
    programs: engines,
    words: [
      '(stack|service|secret|config|node) (rm|remove)',
      'swarm (leave|init|join)',
      'context rm',
      'service (scale|update|rollback)',
      'node (update|demote)',
      'plugin (rm|remove|disable)',
      'trust revoke',
      'machine reset',
    ],
    why: 'It removes services that other people use.',
  },
];
