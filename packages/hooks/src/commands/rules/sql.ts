import type { CommandRule } from '../rule.js';

const approve = 'Show the statement to the person, or write it as a migration that is reviewed.';

/** Rules about databases: SQL that clients are given, and tools that reset them. */
export const sqlRules: readonly CommandRule[] = [
  {
    rule: 'sql/drop-database',
    decision: 'deny',
    sql: 'drops-database',
    why: 'It drops a whole database, schema or user.',
    instead: approve,
  },
  { rule: 'sql/drop-table', decision: 'ask', sql: 'drops', why: 'It drops a table with everything in it.', instead: approve },
  { rule: 'sql/drop-column', decision: 'ask', sql: 'drops-column', why: 'It drops a column with everything in it.', instead: approve },
  { rule: 'sql/truncate', decision: 'ask', sql: 'empties', why: 'It empties a table.', instead: approve },
  {
    rule: 'sql/delete-all',
    decision: 'ask',
    sql: 'deletes-all',
    why: 'It deletes all rows: nothing limits it.',
    instead: 'Add a WHERE that names the rows.',
  },
  {
    rule: 'sql/update-all',
    decision: 'ask',
    sql: 'updates-all',
    why: 'It changes all rows: nothing limits it.',
    instead: 'Add a WHERE that names the rows.',
  },
  {
    rule: 'sql/runs-programs',
    decision: 'ask',
    sql: 'runs-programs',
    why: 'It starts a program from within the database client.',
    instead: 'Run the program by itself.',
  },
  { rule: 'sql/unknown', decision: 'ask', sql: 'unknown', why: 'The SQL is only known when it runs.', instead: 'Write the statement out.' },
  {
    rule: 'sql/drop-command',
    decision: 'ask',
    programs: ['dropdb', 'dropuser', 'mysqladmin'],
    test: ({ program, arguments: { operands } }) => program !== 'mysqladmin' || operands.some(({ text }) => text === 'drop'),
    why: 'It drops a whole database.',
    instead: approve,
  },
  {
    rule: 'sql/mongo-drop',
    decision: 'ask',
    programs: ['mongosh', 'mongo'],
    test: ({ arguments: { words }, input }) =>
      [...words, input ?? ''].some((text) =>
        /\.(?:dropDatabase|drop|remove|dropIndexes)\s*\(|\.deleteMany\s*\(\s*(?:\{\s*\})?\s*\)/.test(text),
      ),
    why: 'It drops a database or collection.',
    instead: approve,
  },
  {
    rule: 'sql/redis-flush',
    decision: 'ask',
    programs: ['redis-cli', 'valkey-cli', 'keydb-cli'],
    test: ({ arguments: { words }, input }) =>
      words.some((word) => /^(?:flushall|flushdb|swapdb)$/i.test(word)) || /^\s*flush(?:all|db)\b/im.test(input ?? ''),
    why: 'It deletes all keys.',
  },
  {
    rule: 'sql/reset-by-tool',
    decision: 'ask',
    programs: [
      'prisma', 'supabase', 'drizzle-kit', 'sequelize', 'sequelize-cli', 'typeorm', 'knex', 'flyway', 'liquibase', 'dbmate', 'goose',
      'atlas', 'diesel', 'sqlx', 'alembic', 'convex', 'hasura', 'wp', 'sqitch',
    ],
    words: [
      'migrate reset', 'db reset', 'database (drop|reset)', 'db:drop', 'db:drop:all', 'schema:drop', 'drop', 'clean', 'drop-all',
      'dropall', 'reset', 'schema clean', 'db:migrate:undo:all', 'migrate:rollback', 'downgrade base', 'setup', 'db clean', 'revert',
    ],
    test: ({ program, arguments: { operands, has } }) =>
      !(operands[0]?.text === 'migrate:rollback' && has('--all') === 'no') &&
      !(operands[0]?.text === 'setup' && program !== 'diesel') &&
      !(operands[0]?.text === 'clean' && program !== 'flyway'),
    why: 'It throws away a database and builds it anew.',
    instead: 'Write a migration forward.',
  },
  {
    rule: 'sql/push-with-loss',
    decision: 'ask',
    programs: ['prisma', 'drizzle-kit'],
    words: ['db push', 'push'],
    flags: ['--force-reset|--accept-data-loss|--force'],
    why: 'It changes the schema at the cost of data.',
    instead: 'Write a migration.',
  },
  {
    rule: 'sql/reset-by-framework',
    decision: 'ask',
    programs: [
      'rails', 'rake', 'artisan', 'php', 'python', 'python3', 'manage.py', 'django-admin', 'mix', 'console', 'dotnet', 'dotnet-ef',
      'ember', 'bin/rails',
    ],
    argument:
      /^(?:db:(?:drop|reset|purge|wipe|truncate_all|migrate:reset|schema:load|setup)(?::\w+)?|migrate:(?:fresh|reset|refresh)|ecto\.(?:drop|reset)|flush|reset_db|sqlflush|doctrine:(?:database|schema):drop)$/,
    why: 'It throws away a database, or all that is in it.',
    instead: 'Write a migration forward.',
  },
  {
    rule: 'sql/drop-by-dotnet',
    decision: 'ask',
    programs: ['dotnet', 'dotnet-ef'],
    words: ['ef database drop', 'database drop'],
    why: 'It drops a whole database.',
  },
];
