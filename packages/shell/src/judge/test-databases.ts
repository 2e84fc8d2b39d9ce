import { programName } from '../read/words/field.js';
import type { Invocation } from '../read/invocation.js';
import type { RuleContext } from './rule.js';
import { production } from './rules/infrastructure.js';

/** The name of a database for tests. */
const ofTests = /(?:^|[_-])(?:tests?|tmp|temp|scratch)(?:$|[_-])/;

/** Clients of databases in files, and of servers that may run on this machine. */
const ofFiles = /^(?:sqlite3|litecli|duckdb)$/;
const ofServers = /^(?:psql|pgcli|dropdb|mysql|mariadb|mycli|cockroach|clickhouse(?:-client)?)$/;

/** The address of a server on this machine: a name, a socket, or a URL without parameters. */
const local = /^(?:\w+:\/\/(?:[^/@\s]*@)?)?(?:localhost|127\.0\.0\.1|\[?::1\]?)?(?::\d+)?(?:\/[^?#\s]*)?$/;

/** Returns whether an address is that of this machine. */
export const isLocalServer = (address: string): boolean => local.test(address);

/** Options that select neither a server nor a file with settings. Options of one letter are checked for a host only. */
const harmlessOption =
  /^--(?:command|dbname|database|execute|query|host|hostname|port|user|username|password|no-password|quiet|silent|batch|csv|json|echo(?:-\w+)?|no-psqlrc|single-transaction|set|variable|tuples-only|no-align|table|force|if-exists|column-names|skip-column-names|raw|insecure)(?:=|$)/;
const harmlessFileOption =
  /^-(?:c|s|bail|batch|box|column|csv|echo|header|html|json|line|list|markdown|no-?header|quote|stats|table|tabs)$/;

/** What leaves a database for another one, or for a file with commands. */
const leaves =
  /\\(?:c|connect|ir?|include\w*|u|\.)(?![a-z])|^[ \t]*(?:\.(?:open|read|restore)\b|use\s|source\s)|[;}]\s*use\s|\battach\b|\bdblink|\bfdw\b/im;

/** A table of another database, or all of one, in languages in which names have a database. */
const elsewhere =
  /\b(?:from|table|into|update|truncate|exists|join|only)\s+["`]?[\w-]+["`]?\s*\.|\bdrop\s+schema\b|[`"]\s*\.\s*[`"]/i;

/** Returns the hosts among options: `-h x`, `-hx`, `-qh x`, `--host=x`. */
const hostsIn = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, index) => {
    const [, inline] = /^(?:-[AabeEHlnqsStTwWxXzZ01]*h|--host(?:name)?(?:=|$))(.*)$/s.exec(word) ?? [];
    return inline === undefined ? [] : [inline === '' ? (words[index + 1] ?? '') : inline];
  });

/** Returns whether a command forwards a port of this machine to another one. */
export const opensTunnel = ({ argv: [first, ...args] }: Invocation): boolean => {
  switch (programName(first?.text ?? '')) {
    case 'ssh':
    case 'autossh':
      return args.some(({ text }) => /^-[A-Za-z]*L/.test(text));
    case 'cloud-sql-proxy':
    case 'cloud_sql_proxy':
      return true;
    case 'kubectl':
    case 'oc':
    case 'fly':
    case 'flyctl':
      return args.slice(0, maxTunnelWords).some(({ text }) => /^(?:port-forward|proxy)$/.test(text));
    default:
      return args.slice(0, maxTunnelWords).some(({ text }) => text.includes('PortForwarding'));
  }
};

/** Number of words that are searched for a tunnel. */
const maxTunnelWords = 20;

/** Returns whether a client uses a server with a full name. A name without a dot is often that of a container. */
export const usesRemoteServer = ({ arguments: { operands, words }, servers }: RuleContext): boolean =>
  [...hostsIn(words), ...operands.map(({ text }) => text).filter((text) => text.includes('://')), ...servers].some(
    (address) => !isLocalServer(address) && /^(?:\w+:\/\/)?(?:[^/@\s]*@)?[\w-]+\.[\w.-]+/.test(address),
  );

/**
 * Returns whether a client uses only a database in memory, or one named for tests: in a file of the project, or on this
 * machine.
 */
export const isOfTests = ({
  program,
  arguments: { operands, valuesOf, words },
  input,
  hasLoadedSecrets,
  servers,
  isElsewhere,
  zoneOf,
}: RuleContext): boolean => {
  const isFile = ofFiles.test(program);
  if (!isFile && !ofServers.test(program)) return false;
  const texts = [...words, input ?? ''];
  if (texts.some((text) => leaves.test(text))) return false;
  const names = [
    ...operands
      .map(({ text }) => text)
      .filter((text) => program !== 'cockroach' || text !== 'sql')
      .slice(0, program === 'dropdb' ? undefined : 1),
    ...(isFile ? [] : ['-d', '--dbname', '-D', '--database'].flatMap(valuesOf)),
  ];
  if (names.length === 0) return false;
  if (isFile) {
    return (
      words.every((word) => !word.startsWith('-') || harmlessFileOption.test(word)) &&
      names.every(
        (name) =>
          name === ':memory:' ||
          (!isElsewhere && isTestName(name.replace(/\.(?:db|sqlite3?|duckdb)$/, '')) && isOfProject(zoneOf(name))),
      )
    );
  }
  // A file of settings may name a server.
  if (hasLoadedSecrets || isElsewhere) return false;
  return (
    [...hostsIn(words), ...servers].every(isLocalServer) &&
    words.every((word) => !word.startsWith('--') || harmlessOption.test(word)) &&
    (/^(?:psql|pgcli|dropdb)$/.test(program) || !texts.some((text) => elsewhere.test(text))) &&
    names.every((name) => (name.includes('://') ? local.test(name) : /^[\w-]+$/.test(name)) && isTestName(name))
  );
};

const isTestName = (name: string): boolean => {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return ofTests.test(last) && !production.test(last);
};

const isOfProject = (zone: string): boolean => zone === 'inside' || zone === 'scratch';
