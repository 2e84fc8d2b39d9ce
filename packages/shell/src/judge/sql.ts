/** An effect of a statement that may destroy data. */
export type SqlDamage =
  | 'drops'
  | 'drops-database'
  | 'drops-schema'
  | 'empties'
  | 'deletes-all'
  | 'updates-all'
  | 'drops-column'
  | 'interrupts'
  | 'runs-programs'
  | 'unknown';

/** Finds the destructive effects of SQL. Strings and comments are skipped, those in dollar quotes if the server has these; the time is proportional to its length. */
export const damageOf = (sql: string, hasDollarQuotes = false): ReadonlySet<SqlDamage> => {
  const found = new Set<SqlDamage>();
  for (const statement of statementsOf(sql, hasDollarQuotes)) {
    const words = statement.toUpperCase().trim().replaceAll(/\s+/g, ' ');
    if (words === '') continue;
    if (/\bDROP (?:DATABASE|KEYSPACE|USER|ROLE|TABLESPACE)\b/.test(words)) found.add('drops-database');
    if (/\bDROP SCHEMA\b/.test(words)) found.add('drops-schema');
    if (
      /\bDROP (?:TEMPORARY )?(?:TABLE|MATERIALIZED VIEW|COLLECTION|PARTITION|OWNED|EXTENSION|SUBSCRIPTION)\b/.test(
        words,
      )
    ) {
      if (!/\bDROP TEMPORARY\b/.test(words)) found.add('drops');
    }
    if (/(?:^|[;(] ?|\bBEGIN |\bTHEN )TRUNCATE\b(?! ?\()/.test(words)) found.add('empties');
    if (
      /\bPG_(?:TERMINATE_BACKEND|DROP_REPLICATION_SLOT)\b|^(?:RESET MASTER|PURGE (?:BINARY|MASTER) LOGS|SHUTDOWN|ALTER SYSTEM|KILL \d+|SET (?:GLOBAL|PERSIST))\b|^ALTER DATABASE \S+ SET (?:SINGLE_USER|OFFLINE)\b/.test(
        words,
      )
    ) {
      found.add('interrupts');
    }
    if (/\b(?:TO|FROM) PROGRAM\b/.test(words)) found.add('runs-programs');
    if (words.startsWith('DROP ') && /\bCASCADE$/.test(words)) found.add('drops');
    const altered = words.indexOf('ALTER TABLE ');
    if (
      altered !== -1 &&
      /\bDROP (?:COLUMN\b|(?!CONSTRAINT|INDEX|KEY|FOREIGN|PRIMARY|DEFAULT|NOT|CHECK|PARTITION|TABLE)[A-Z_"`[])/.test(
        words.slice(altered),
      )
    ) {
      found.add('drops-column');
    }
    if (/^ALTER TABLE \S+ (?:ON CLUSTER \S+ )?DELETE WHERE /.test(words) && isUnbounded(words, 'DELETE ')) {
      found.add('deletes-all');
    }
    if (/\bDELETE FROM [^;]+/.test(words) && isUnbounded(words, 'DELETE FROM ')) found.add('deletes-all');
    if (
      /(?:^|\) ?|\bBEGIN )UPDATE (?:ONLY )?[^ ]+(?: AS)?(?: [A-Z_]+)? SET /.test(words) &&
      isUnbounded(words, 'UPDATE ')
    ) {
      found.add('updates-all');
    }
  }
  return found;
};

/** Returns whether there is no `WHERE`, or one that is always true. */
const isUnbounded = (words: string, verb: string): boolean => {
  const rest = words.slice(words.indexOf(verb));
  const where = rest.indexOf(' WHERE ');
  if (where === -1) return !/ (?:LIMIT|USING|FROM [^ ]+ JOIN) /.test(rest.slice(verb.length));
  const condition = rest.slice(where + 7).replace(/[\s;]+$/, '');
  // One alternative that always holds is enough; all parts of a conjunction must.
  return condition
    .split(' OR ', maxParts)
    .some((part) => part.split(' AND ', maxParts).every((one) => alwaysHolds.test(one.replaceAll(/[()]/g, '').trim())));
};

/** Number of parts of a condition that are examined. */
const maxParts = 20;

/**
 * A condition that holds for every row: a constant, a comparison of constants, of something with itself, or of a key or a
 * name with nothing. Other columns often have no value.
 */
const alwaysHolds =
  /^(?:TRUE|1|NOT FALSE|(?:\d+|'') ?(?:=|<>|!=|<=?|>=?) ?(?:\d+|'')|([\w."]+) ?(?:=|>=|<=) ?\1|[\w."]*(?:ID|KEY|NAME)"? ?(?:>=? ?-?[01]|(?:<>|!=) ?(?:''|0|-1)|IS NOT NULL))$/;

/** Returns the statements of a script without strings and comments, except MySQL's executable comments. */
const statementsOf = (sql: string, hasDollarQuotes: boolean): readonly string[] => {
  const statements: string[] = [];
  let current = '';
  for (let index = 0; index < sql.length; index += 1) {
    const character = sql.charAt(index);
    const pair = sql.slice(index, index + 2);
    if (character === ';') {
      statements.push(current);
      current = '';
    } else if (
      character === "'" &&
      /\b(?:EXECUTE|IMMEDIATE|FORMAT ?\(|DO|DBLINK\w* ?\( ?'' ?,)\s*$/i.test(current.slice(-40))
    ) {
      // This string contains SQL.
      current += ' (';
    } else if (character === "'") {
      index = closing(sql, "'", index + 1);
      current += "''";
    } else if (pair === '--') {
      index = endOr(sql.indexOf('\n', index), sql.length);
      current += ' ';
    } else if (pair === '/*' && /^\/\*(?:!\d*|M!)/.test(sql.slice(index, index + 4))) {
      index += 2;
    } else if (pair === '/*') {
      index = endOr(sql.indexOf('*/', index + 2), sql.length) + 1;
      current += ' ';
    } else if (pair === '*/') {
      index += 1;
    } else if (character === '$') {
      // The body of a function or DO block is code: its quotes are removed, its statements kept. Others are strings.
      const [quote] =
        !hasDollarQuotes || /[\w$]$/.test(current) ? [] : (/^\$(?!\d)\w*\$/.exec(sql.slice(index, index + 40)) ?? []);
      const end = quote === undefined || runsBody.test(current) ? -1 : sql.indexOf(quote, index + quote.length);
      if (quote !== undefined && end !== -1) {
        index = end + quote.length - 1;
        current += "''";
      } else current += ' ';
    } else {
      current += character;
    }
  }
  return [...statements, current];
};

/** A statement whose dollar-quoted strings are code. */
const runsBody = /\b(?:DO|FUNCTION|PROCEDURE|EXECUTE|FORMAT|QUERY_TO_XML|DBLINK\w*|CRON\.SCHEDULE)\b/i;

const endOr = (index: number, end: number): number => (index === -1 ? end : index);

const closing = (sql: string, quote: string, start: number): number => {
  for (let index = start; index < sql.length; index += 1) {
    if (sql[index] === '\\') index += 1;
    else if (sql[index] === quote) return index;
  }
  return sql.length;
};
