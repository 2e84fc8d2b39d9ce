import { known, programName, unknownText, type Field } from '../words/field.js';
import type { Inner } from './inner.js';
import { lookUp, type Scope } from '../scope.js';

/** Returns whether a program runs commands in a virtual machine or a container of this machine. */
export const isVirtualMachine = (name: string): boolean =>
  /^(?:vagrant|minikube|kind|k3d|colima|limactl|lima|multipass|orb|crc|wsl|ddev|lando)$/.test(name);

/** Returns whether the `run` of a program that hosts applications starts a command on its machines. */
export const isHost = (name: string): boolean => /^(?:heroku|dokku|juju|scalingo|clever)$/.test(name);

/** Returns whether a wrapper runs its command on another machine: in a cluster, or with a container engine there. */
export const runsElsewhere = (name: string, args: readonly Field[], scope: Scope): boolean =>
  /^(?:kubectl|oc)$/.test(name) || usesOtherEngine(name, args, scope);

/** Returns whether a command is for a container engine of another machine. */
export const usesOtherEngine = (name: string, args: readonly Field[], scope: Scope): boolean =>
  /^(?:docker|podman|nerdctl|docker-compose)$/.test(name) &&
  [...enginesIn(args), ...variables.flatMap((variable) => lookUp(scope, 'variables', variable)?.[0] ?? [])].some(
    (engine) => engine !== '' && !localEngine.test(engine),
  );

/** Number of characters in which the name of a machine is searched. */
const maxShown = 400;

/** Records the container engine that a command selects for later commands. */
export const rememberEngine = ([program, ...args]: readonly Field[], scope: Scope): void => {
  const name = programName(program?.text ?? '');
  if (/^(?:eval|source|\.)$/.test(name) && args[0]?.madeBy.includes('docker-machine') === true) {
    const [, machine = unknownText] =
      /\bdocker-machine env\b[^|;&)`]*?(?:\s["']?([\w.-]+)["']?)?\s*[)`]/.exec(args[0].shown.slice(0, maxShown)) ?? [];
    scope.variables.set('DOCKER_HOST', [machine]);
  }
  const [first, second, context] = args;
  if (name === 'docker' && first?.text === 'context' && second?.text === 'use' && context !== undefined) {
    scope.variables.set('DOCKER_CONTEXT', [context.text]);
  }
};

/** Variables that select a container engine. */
const variables = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'CONTAINER_HOST', 'CONTAINER_CONNECTION'];

/** Sockets, and names that Docker and its distributions give to the engine of this machine. */
const localEngine = /^(?:unix|npipe|fd):|^(?:default|desktop-linux|rootless|colima|orbstack)$/;

/** Files and projects of Compose that run in production. */
const production = /(?:^|[-_./=])prod(?:uction)?(?:$|[-_./])/;

/** Options before the subcommand whose next word is their value. */
const takesValue =
  /^(?:-[cHlfp]|--(?:host|context|url|connection|log-level|config|tls(?:cacert|cert|key)|file|project-name|env-file|identity|root))$/;

/** Returns the engines that options before the subcommand select, and files and projects of production. */
const enginesIn = (args: readonly Field[]): readonly string[] => {
  const verb = args.findIndex(({ text }) => /^(?:run|exec|create)$/.test(text));
  const first = args.findIndex(
    ({ text }, index) => /^[a-z]/.test(text) && !takesValue.test(args[index - 1]?.text ?? ''),
  );
  return args.slice(0, Math.max(verb, first, 0)).flatMap(({ text }, index) => {
    const [option, inline] = /^(?:-H|-c|-r$|--remote$|--(?:host|context|url|connection)(?:=|$))(.*)$/s.exec(text) ?? [];
    if (verb !== -1 && production.test(text)) return [text];
    if (option === undefined || inline === undefined) return [];
    return /^(?:-r|--remote)$/.test(option) ? [option] : [inline === '' ? (args[index + 1]?.text ?? '') : inline];
  });
};

/** `docker run --entrypoint rm image -rf /`, and images named after the program that they run: `alpine/git push`. */
export const entryOf = (
  name: string,
  args: readonly Field[],
  commands: readonly (readonly Field[])[],
): readonly Inner[] => {
  const at = args.findIndex(({ text }) => text.startsWith('--entrypoint'));
  if (at !== -1) {
    const entry = args[at]?.text.includes('=') === true ? known(args[at].text.replace(/^[^=]*=/, '')) : args[at + 1];
    if (entry === undefined) return [];
    return commands.map((argv): Inner => {
      // The options in front of the first word belong to the program.
      let start = args.length - argv.length;
      while (args[start - 1]?.text.startsWith('-') === true) start -= 1;
      return { kind: 'command', argv: [entry, ...args.slice(start)] };
    });
  }
  if (!engines.test(name)) return [];
  return commands.flatMap((argv): readonly Inner[] => {
    const [, program] = /([\w.-]+?)(?:-cli)?(?::[^/]*)?$/.exec(args.at(-argv.length - 1)?.text ?? '') ?? [];
    return program === undefined ? [] : [{ kind: 'command', argv: [known(program), ...argv], isGuess: true }];
  });
};

/** Programs that run others in a container. */
export const engines = /^(?:docker|podman|nerdctl)$/;
