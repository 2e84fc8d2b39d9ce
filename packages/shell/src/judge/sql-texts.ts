import type { ParsedArguments } from '../read/words/arguments.js';
import { isWhollyUnknown } from '../read/words/field.js';
import { isOrdinary } from '../read/commands/ordinary.js';
import { damageOf, type SqlDamage } from './sql.js';

interface Client {
  /** Options whose value is SQL. */
  readonly options?: readonly string[];
  /** Number of words before the SQL. */
  readonly operandsFrom?: number;
  /** Words that, if present, mean that this is not a client call. */
  readonly words?: RegExp;
}

/** Programs that send SQL. All of them also read it from their input. */
const clients: Readonly<Record<string, Client>> = {
  psql: { options: ['-c', '--command'] },
  mysql: { options: ['-e', '--execute', '--init-command'] },
  mariadb: { options: ['-e', '--execute'] },
  sqlite3: { operandsFrom: 1 },
  litecli: { options: ['-e'] },
  pgcli: { options: ['-c'] },
  mycli: { options: ['-e', '--execute'] },
  duckdb: { options: ['-c', '-s'], operandsFrom: 1 },
  sqlcmd: { options: ['-Q', '-q', '--query'] },
  usql: { options: ['-c', '--command'] },
  cqlsh: { options: ['-e', '--execute'] },
  snowsql: { options: ['-q', '--query'] },
  'clickhouse-client': { options: ['-q', '--query'] },
  clickhouse: { options: ['-q', '--query'] },
  cockroach: { options: ['-e', '--execute'], words: /^sql$/ },
  bq: { operandsFrom: 1, words: /^query$/ },
  wrangler: { options: ['--command'], words: /^d1$/ },
  turso: { operandsFrom: 3, words: /^db$/ },
  prisma: { words: /^db$/ },
};

/** Clients of servers with strings between dollar signs; elsewhere, these are an error, which a client may skip. */
const dollarQuotes = /^(?:psql|pgcli|usql|cockroach|duckdb|snowsql)$/;

/** A command of the client, which ends with its line: `\connect app`, `.open app.db`. */
const clientCommand = /^[ \t]*[\\.](?!copy\b)[a-z].*$/gm;

/** What starts a program from within a client: `\! rm`, `\o |sh`, `.shell rm`, `.import '|rm' t`. */
const startsProgram =
  /^[ \t]*(?:\\!|\\(?:o|out|g|gx|w)\s*\||\.(?:shell|system|load)\b|\.(?:import|output|once)\s+['"]?\||system\s)/m;

/** A string that is SQL: it begins like a statement of several words. */
const statement =
  /^\s*(?:(?:drop|truncate|alter)\s+(?:table|database|schema|keyspace|user|role)\s|truncate\s+[\w."]+\s*;?\s*$|delete\s+from\s|update\s+\S+\s+set\s)/i;

/** Returns what the SQL in the arguments destroys; empty for a program that accepts none. */
export const sqlDamage = (
  program: string,
  { operands, valuesOf, words }: ParsedArguments,
  input: string | undefined,
): ReadonlySet<SqlDamage> => {
  const client = Object.hasOwn(clients, program) ? clients[program] : undefined;
  if (client === undefined && (!isOrdinary(program) || words.some((word) => /^db(?:shell|console)$/.test(word)))) {
    const texts = [
      ...words.filter((word) => statement.test(word)),
      ...(statement.test(input ?? '') ? [input ?? ''] : []),
    ];
    return new Set(texts.flatMap((text) => [...damageOf(text)]));
  }
  if (client === undefined || client.words?.test(operands[0]?.text ?? '') === false) return new Set();
  const texts = [
    ...(client.options ?? []).flatMap((option) => [...valuesOf(option), ...inline(option, words)]),
    ...(client.operandsFrom === undefined ? [] : operands.slice(client.operandsFrom).map(({ text }) => text)),
    ...(input === undefined ? [] : [input]),
  ];
  // A command of the client ends a statement.
  const damage = new Set(
    texts.flatMap((text) => [...damageOf(text.replaceAll(clientCommand, ';'), dollarQuotes.test(program))]),
  );
  if (
    texts.some(
      (text) =>
        text !== input &&
        isWhollyUnknown(text) &&
        operands.every((operand) => operand.text !== text || client.operandsFrom !== undefined),
    )
  ) {
    damage.add('unknown');
  }
  if (texts.some((text) => startsProgram.test(text))) damage.add('runs-programs');
  if (program === 'sqlite3' && texts.some((text) => /^\s*\.restore\b/m.test(text))) damage.add('drops');
  return damage;
};

/** `-c"DROP TABLE x"`: a value without a space before it. */
const inline = (option: string, words: readonly string[]): readonly string[] =>
  option.startsWith('--')
    ? []
    : words.flatMap((word) =>
        word.startsWith(option) && word.length > option.length ? [word.slice(option.length)] : [],
      );
