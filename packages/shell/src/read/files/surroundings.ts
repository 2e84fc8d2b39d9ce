/** What a command runs with, or passes to the commands that it runs: the user, secrets, variables. */
import { programName, type Field } from '../words/field.js';
import { lookUp, type Scope } from '../scope.js';
import { environmentMark, loadsSecrets, secretMark } from './secrets.js';

/** Returns whether a command runs another as root on this machine. */
export const isRootIn = ([first, ...args]: readonly Field[], isRoot: boolean): boolean => {
  const name = programName(first?.text ?? '');
  if (!/^(?:sudo|doas|pkexec)$/.test(name)) return isRoot && !/^(?:docker|podman|nerdctl|kubectl|lxc)$/.test(name);
  const at = args.findIndex(({ text }) => /^(?:-u|--user)$/.test(text));
  return at === -1 || args[at + 1]?.text === 'root';
};

/** Records that a command runs others with secrets in their environment. */
export const addSecrets = (argv: readonly Field[], inner: Scope): void => {
  const [program = '', ...args] = argv.map(({ text }) => text);
  if (loadsSecrets(programName(program), args)) {
    inner.secrets = new Map([...inner.secrets, [environmentMark, secretMark]]);
  }
};

/** Variables by which frameworks select a database. */
const environments = ['RAILS_ENV', 'RACK_ENV', 'MIX_ENV', 'APP_ENV', 'DJANGO_ENV', 'FLASK_ENV', 'NODE_ENV'];

/** Returns the environment that a framework would select, such as `production`. */
export const environmentOf = (scope: Scope): string | undefined => {
  for (const name of environments) {
    const [value] = lookUp(scope, 'variables', name) ?? [];
    if (value !== undefined) return value;
  }
  return undefined;
};

/** Variables by which clients and frameworks select the server of a database. */
const serverVariables = [
  'PGHOST',
  'PGHOSTADDR',
  'PGSERVICE',
  'MYSQL_HOST',
  'CLICKHOUSE_HOST',
  'COCKROACH_URL',
  'DATABASE_URL',
];

/** Returns the servers and addresses of databases in the variables of a command. */
export const serversOf = (scope: Scope): readonly string[] =>
  serverVariables.flatMap((name) => lookUp(scope, 'variables', name)?.[0] ?? []);
