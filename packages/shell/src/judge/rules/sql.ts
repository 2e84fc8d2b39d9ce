import { beginsWith } from '../../read/words/arguments.js';
import { onlyPrints } from '../../read/code/inline-code.js';
import type { CommandRule, RuleContext } from '../rule.js';
import { isLocalServer, isOfTests, usesRemoteServer } from '../test-databases.js';
import { migrationTools, production } from './infrastructure.js';

const approve = 'Show the statement to the person, or write it as a migration that is reviewed.';

const isReal = (command: RuleContext): boolean => !isOfTests(command);

/** Returns the names of the variables among the arguments. */
const variablesOf = ({ shown }: RuleContext): readonly string[] =>
  shown.flatMap((word) => Array.from(word.matchAll(/\$\{?(\w+)/g), ([, name = '']) => name));

/** Variables that name a server, and those that name one for development. */
const address = /(?:^|_)(?:URL|URI|DSN|HOST(?:NAME)?|SERVER|ADDR(?:ESS)?|CONN(?:ECTION)?(?:_STRING)?)$/i;
const forTests = /(?:^|_)(?:TEST(?:ING)?|LOCAL|DEV(?:ELOPMENT)?|CI|SHADOW|SANDBOX)(?:_|$)/i;

/** Returns the files of statements that a client receives. */
const scriptsOf = ({ inputFile, arguments: { words, valuesOf } }: RuleContext): readonly string[] => [
  ...(inputFile === undefined ? [] : [inputFile]),
  ...['-f', '--file'].flatMap(valuesOf),
  ...words.flatMap((word) => (/^@./.test(word) ? [word.slice(1)] : [])),
];

const replacing = /(?:^|[-_./])(?:dump|backup|restore|drop|delete|purge|truncate|wipe|reset)(?:[-_./]|$)/i;

/** Returns whether a script is, by its name or its source, a dump, or deletes data. */
const replacesData = (command: RuleContext): boolean =>
  scriptsOf(command).some((path) => replacing.test(path)) ||
  command.reads.some((name) =>
    /^(?:g?zcat|g(?:un)?zip|bzcat|xz(?:cat)?|zstd(?:cat)?|pg_dump(?:all)?|mysqldump|mariadb-dump)$/.test(name),
  );

/** Rules about databases: SQL in arguments of clients, and tools that reset databases. */
export const sqlRules: readonly CommandRule[] = [
  {
    rule: 'sql/drop-database',
    decision: 'deny',
    sql: 'drops-database',
    why: 'It drops a whole database, or a user.',
    instead: approve,
  },
  {
    rule: 'sql/drop-schema',
    decision: 'deny',
    sql: 'drops-schema',
    test: isReal,
    why: 'It drops a schema with all its tables.',
    instead: approve,
  },
  {
    rule: 'sql/drop-table',
    decision: 'ask',
    sql: 'drops',
    test: isReal,
    why: 'It drops a table with everything in it.',
    instead: approve,
  },
  {
    rule: 'sql/drop-column',
    decision: 'ask',
    sql: 'drops-column',
    test: isReal,
    why: 'It drops a column with everything in it.',
    instead: approve,
  },
  {
    rule: 'sql/truncate',
    decision: 'ask',
    sql: 'empties',
    test: isReal,
    why: 'It empties a table.',
    instead: approve,
  },
  {
    rule: 'sql/delete-all',
    decision: 'ask',
    sql: 'deletes-all',
    test: isReal,
    why: 'It deletes all rows, because it has no condition.',
    instead: 'Add a WHERE that names the rows.',
  },
  {
    rule: 'sql/update-all',
    decision: 'ask',
    sql: 'updates-all',
    test: isReal,
    why: 'It changes all rows, because it has no condition.',
    instead: 'Add a WHERE that names the rows.',
  },
  {
    rule: 'sql/interrupts',
    decision: 'ask',
    sql: 'interrupts',
    why: 'It ends connections of others, deletes the log for recovery, or stops or reconfigures the server.',
    instead: approve,
  },
  {
    rule: 'sql/runs-programs',
    decision: 'ask',
    sql: 'runs-programs',
    why: 'It starts a program from within the database client.',
    instead: 'Run the program directly.',
  },
  {
    rule: 'sql/unknown',
    decision: 'ask',
    sql: 'unknown',
    why: 'The SQL is known only at run time.',
    instead: 'Use a literal statement.',
  },
  {
    rule: 'sql/drop-command',
    decision: 'ask',
    programs: ['dropdb', 'dropuser', 'pg_dropcluster', 'mysqladmin'],
    test: (command) =>
      command.program === 'mysqladmin'
        ? command.arguments.operands.some(({ text }) => /^(?:drop|shutdown|password|flush-\w+)$/.test(text))
        : !isOfTests(command),
    why: 'It drops a whole database, or stops its server.',
    instead: approve,
  },
  {
    rule: 'sql/mongo-drop',
    decision: 'ask',
    programs: ['mongosh', 'mongo'],
    test: ({ arguments: { words }, input }) =>
      [...words, input ?? ''].some(
        (text) =>
          !onlyPrints.test(text) &&
          /\.(?:dropDatabase|drop|remove|dropIndexes|dropUser|dropAllUsers|shutdownServer|stepDown)\s*\(|\bshutdown['"]?\s*:\s*1|\.deleteMany\s*\(\s*(?:\{\s*\})?\s*\)|\.updateMany\s*\(\s*\{\s*\}\s*,/.test(
            text,
          ),
      ),
    why: 'It drops a database or collection, or changes all its documents.',
    instead: approve,
  },
  {
    rule: 'sql/graph-delete',
    decision: 'ask',
    programs: ['cypher-shell', 'gremlin', 'gremlin.sh', 'surreal', 'edgedb', 'gel'],
    test: ({ arguments: { words }, input }) =>
      [...words, input ?? ''].some(
        (text) =>
          /\bDETACH\s+DELETE\b|\bREMOVE\s+(?:TABLE|DATABASE|NAMESPACE)\b|\.drop\(\)|\bDROP\b/i.test(text) &&
          !/\bWHERE\b/i.test(text),
      ),
    why: 'It deletes all nodes, a table or a database.',
    instead: approve,
  },
  {
    rule: 'sql/redis-flush',
    decision: 'ask',
    programs: ['redis-cli', 'valkey-cli', 'keydb-cli', 'nc', 'ncat', 'telnet', 'memcached-tool', 'memcflush'],
    test: ({ program, arguments: { operands, words }, input }) =>
      (program.endsWith('-cli') &&
        (words.some((word) => /\bcall\(\s*["']flush(?:all|db)/i.test(word)) ||
          beginsWith(operands, '(flushall|flushdb|swapdb)') === 'yes')) ||
      program === 'memcflush' ||
      (program === 'memcached-tool' && words.some((word) => word.startsWith('flush'))) ||
      /^\s*flush(?:_?all|db)\b/im.test(input ?? ''),
    why: 'It deletes all keys.',
  },
  {
    rule: 'sql/redis-admin',
    decision: 'ask',
    programs: ['redis-cli', 'valkey-cli', 'keydb-cli'],
    test: ({ arguments: { operands }, madeBy }) =>
      (/^(?:del|unlink)$/i.test(operands[0]?.text ?? '') && madeBy.length > 0) ||
      /^(?:shutdown|debug|replicaof|slaveof|failover|migrate)$/i.test(operands[0]?.text ?? '') ||
      (/^(?:script|client|function)$/i.test(operands[0]?.text ?? '') &&
        /^(?:flush|kill)$/i.test(operands[1]?.text ?? '')) ||
      operands.slice(0, 2).some(({ text }) => /^(?:deluser|setuser|reset|del-node|fix)$/i.test(text)) ||
      (/^config$/i.test(operands[0]?.text ?? '') && /^(?:set|rewrite)$/i.test(operands[1]?.text ?? '')),
    why: 'It stops or reconfigures a database, or deletes keys that are known only at run time.',
  },
  {
    rule: 'sql/restore-over',
    decision: 'ask',
    programs: ['pg_restore', 'pg_resetwal', 'mongorestore', 'mysqlimport', 'myloader', 'pg_rewind'],
    test: ({ program, arguments: { has } }) =>
      /^pg_re(?:setwal|wind)$/.test(program) ||
      ['-c', '--clean', '--drop', '--delete', '--overwrite-tables', '-C', '--create'].some(
        (option) => has(option) === 'yes',
      ),
    unless: ['--help|--dryRun|--dry-run|-n'],
    why: 'It deletes objects of the database before it restores them.',
  },
  {
    rule: 'sql/reset-by-tool',
    decision: 'ask',
    programs: [...migrationTools, 'flask', 'convex', 'wp'],
    words: [
      'migrate reset',
      'db reset',
      'database (drop|reset)',
      'db:drop',
      'db:drop:all',
      'schema:drop',
      'drop',
      'clean',
      'drop-all',
      'dropall',
      'reset',
      'schema clean',
      'db:migrate:undo:all',
      'migrate:rollback',
      'downgrade base',
      'db downgrade base',
      'setup',
      'db clean',
      'revert',
    ],
    test: ({ program, arguments: { operands, has, valuesOf }, environment, isElsewhere, servers }) =>
      // The settings of these name a database for each environment.
      !(
        /^(?:sequelize(?:-cli)?|knex)$/.test(program) &&
        (valuesOf('--env')[0] ?? environment) === 'test' &&
        !isElsewhere &&
        servers.every(isLocalServer)
      ) &&
      !(operands[0]?.text === 'migrate:rollback' && has('--all') === 'no') &&
      !(operands[0]?.text === 'setup' && program !== 'diesel') &&
      !(operands[0]?.text === 'clean' && program !== 'flyway'),
    why: 'It deletes and recreates a database.',
    instead: 'Write a forward migration.',
  },
  {
    rule: 'sql/push-with-loss',
    decision: 'ask',
    programs: ['prisma', 'drizzle-kit'],
    words: ['db push', 'push'],
    flags: ['--force-reset|--accept-data-loss|--force'],
    why: 'It changes the schema and may delete data.',
    instead: 'Write a migration.',
  },
  {
    rule: 'sql/reset-by-framework',
    decision: 'ask',
    programs: [
      'rails',
      'rake',
      'artisan',
      'php',
      'python',
      'python3',
      'manage.py',
      'django-admin',
      'mix',
      'console',
      'dotnet',
      'dotnet-ef',
      'ember',
      'bin/rails',
    ],
    argument:
      /^(?:db:(?:drop|reset|purge|wipe|truncate_all|migrate:reset|schema:load|setup)(?::\w+)?|migrate:(?:fresh|reset|refresh|down)|queue:flush|ecto\.(?:drop|reset)|flush|reset_db|doctrine:(?:database|schema):drop)$/,
    test: ({ environment, servers, isElsewhere }) =>
      environment !== 'test' || isElsewhere || !servers.every(isLocalServer),
    why: 'It deletes a database or everything in it.',
    instead: 'Write a forward migration.',
  },
  {
    rule: 'sql/production-script',
    decision: 'ask',
    programs: ['psql', 'mysql', 'mariadb', 'sqlcmd', 'mongosh', 'pg_restore', 'mongorestore', 'sqlite3', 'duckdb'],
    test: (command) =>
      (!/^(?:sqlite3|duckdb)$/.test(command.program) ||
        (command.arguments.operands.length === 1 && command.input === undefined)) &&
      (command.arguments.words.some((word) => production.test(word)) ||
        variablesOf(command).some((name) => /(?:^|_)PROD(?:UCTION)?(?:_|$)/i.test(name)) ||
        (replacesData(command) &&
          (command.isElsewhere ||
            usesRemoteServer(command) ||
            variablesOf(command).some((name) => address.test(name) && !forTests.test(name))))) &&
      !command.arguments.words.some((word) =>
        /^(?:-[ceQql]|--(?:command|execute|query|eval|list|version|help)|-readonly$)/.test(word),
      ),
    why: 'It runs SQL that is not part of the line in the production database, or replaces data on an unknown server.',
    instead: 'Prepare the script, and let a person run it.',
  },
  {
    rule: 'sql/script-of-service',
    decision: 'ask',
    test: (command) => {
      if (command.isOrdinary) return false;
      const scripts = scriptsOf(command).filter((path) => /\.sql(?:\.\w+)?$/i.test(path));
      return (
        isReal(command) &&
        (scripts.some((path) => replacing.test(path)) ||
          (scripts.length > 0 && command.arguments.words.some((word) => production.test(word))))
      );
    },
    unless: ['--local|--dry-run|--help|-h'],
    why: 'By its name, the script deletes or replaces data, or it runs in the production database.',
    instead: 'Prepare the script, and let a person run it.',
  },
  {
    rule: 'sql/production',
    decision: 'ask',
    programs: [
      'rails',
      'rake',
      'mix',
      'php',
      'artisan',
      'python',
      'python3',
      'knex',
      'prisma',
      'sequelize-cli',
      'flask',
      'alembic',
    ],
    test: ({ environment, arguments: { words } }) =>
      (environment === 'production' || words.some((word) => /^(?:RAILS_ENV|--env)=production$/.test(word))) &&
      words.some((word) => /^(?:db[:.]|migrate|ecto\.)|migrat|rollback|^(?:upgrade|downgrade|seed)$/.test(word)),
    why: 'It changes the production database.',
    instead: 'Prepare the change, and let a person run it.',
  },
  {
    rule: 'sql/migrate-to-nothing',
    decision: 'ask',
    programs: ['python', 'python3', 'manage.py', 'django-admin', 'hasura', 'php', 'artisan'],
    test: ({ program, arguments: { words } }) =>
      program === 'hasura'
        ? words.includes('--down')
        : /^(?:php|artisan)$/.test(program)
          ? words.includes('migrate:rollback') && words.includes('--force')
          : words.includes('migrate') && words.at(-1) === 'zero',
    why: 'It reverts all migrations, with the data of their tables.',
    instead: 'Write a forward migration.',
  },
  {
    rule: 'sql/drop-by-dotnet',
    decision: 'ask',
    programs: ['dotnet', 'dotnet-ef'],
    words: ['ef database drop', 'database drop'],
    why: 'It drops a whole database.',
  },
];
