import { randomUUID } from 'node:crypto';
import type { Postgres } from '@h/postgres';
import {
  RecordsError,
  type RecordChange,
  type RecordKind,
  type RecordQuery,
  type Records,
  type StoredRecord,
} from './records.js';

/** How long changes are collected before other processes are notified, in milliseconds. */
const notifyMs = 30;
/** Interval of the search for changes whose notification was lost, in milliseconds. */
const pollMs = 5_000;
/** A search is repeated after this time while transactions run that may have changed records, in milliseconds. */
const againMs = 50;
/** How often a change is repeated because another process was faster. */
const maxAttempts = 100;
const topic = 'station';

/** Opens the records in PostgreSQL, for several processes. Creates their table. */
export const openPostgresRecords = async (database: Postgres): Promise<Records> => {
  const table = database.name('station_record');
  await database.query(`do $$ begin
    perform pg_advisory_xact_lock(hashtextextended('h:station:${database.settings.schema}', 0));
    create table if not exists ${table} (
      kind text not null, id text not null, tenant text not null, at bigint not null, body text,
      version bigint not null default 1, nonce uuid not null, changed xid8 not null default pg_current_xact_id(),
      changed_at timestamptz not null default clock_timestamp(), primary key (kind, id));
    create index if not exists station_record_list on ${table} (kind, tenant, at desc, id) where body is not null;
    create index if not exists station_record_times on ${table} (kind, at desc, id) where body is not null;
    create index if not exists station_record_changed on ${table} (changed);
  end $$`);
  return new PostgresRecords(database, table);
};

interface Row {
  readonly kind: RecordKind;
  readonly id: string;
  readonly tenant: string;
  readonly at: string;
  readonly body: string;
  readonly version: string;
}

class PostgresRecords implements Records {
  readonly #database: Postgres;
  readonly #table: string;
  readonly #callbacks = new Set<(change: RecordChange) => void>();
  #notifying: ReturnType<typeof setTimeout> | undefined;
  #polling: ReturnType<typeof setTimeout> | undefined;
  #search: Promise<void> = Promise.resolve();
  #isSearchDue = false;
  /** Transactions before this one were seen. */
  #seen: string | undefined;
  #stopListening: (() => void) | undefined;
  #isClosed = false;

  constructor(database: Postgres, table: string) {
    this.#database = database;
    this.#table = table;
  }

  async get<Kind extends RecordKind>(kind: Kind, id: string): Promise<StoredRecord<Kind> | undefined> {
    return (await this.#row(kind, id))?.record;
  }

  async insert<Kind extends RecordKind>({ kind, id, tenant, at, body }: StoredRecord<Kind>): Promise<boolean> {
    // The nonce finds out whether the statement was repeated after its first answer was lost.
    const rows = await this.#database.query(
      `insert into ${this.#table} as r (kind, id, tenant, at, body, nonce) values ($1, $2, $3, $4, $5, $6)
       on conflict (kind, id) do update set tenant = excluded.tenant, at = excluded.at, body = excluded.body,
         nonce = excluded.nonce, version = r.version + 1, changed = pg_current_xact_id(), changed_at = clock_timestamp()
       where r.body is null or r.nonce = excluded.nonce returning 1`,
      [kind, id, tenant, at, JSON.stringify(body), randomUUID()],
    );
    this.#announce();
    return rows.length > 0;
  }

  async update<Kind extends RecordKind>(
    kind: Kind,
    id: string,
    change: (current: StoredRecord<Kind> | undefined) => StoredRecord<Kind> | undefined,
  ): Promise<StoredRecord<Kind> | undefined> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const current = await this.#row(kind, id);
      const next = change(current?.record);
      if (!next) return current?.record;
      if (!current) {
        if (await this.insert(next)) return next;
        continue;
      }
      const nonce = randomUUID();
      const rows = await this.#database.query(
        `update ${this.#table} set tenant = $3, at = $4, body = $5, nonce = $6, version = $7 + 1,
           changed = pg_current_xact_id(), changed_at = clock_timestamp()
         where kind = $1 and id = $2 and (version = $7 or nonce = $6) and body is not null returning 1`,
        [kind, id, next.tenant, next.at, JSON.stringify(next.body), nonce, current.version],
      );
      if (rows.length === 0) continue;
      this.#announce();
      return next;
    }
    throw new RecordsError(
      'records-busy',
      `The record ${kind} ${id} is changed by other processes all the time. Retry.`,
    );
  }

  async delete(kind: RecordKind, id: string): Promise<void> {
    await this.#database.query(
      `update ${this.#table} set body = null, version = version + 1, changed = pg_current_xact_id(),
         changed_at = clock_timestamp() where kind = $1 and id = $2 and body is not null`,
      [kind, id],
    );
    this.#announce();
  }

  async list<Kind extends RecordKind>(kind: Kind, query: RecordQuery = {}): Promise<readonly StoredRecord<Kind>[]> {
    const { tenant, from, to, after, limit = 1000 } = query;
    const values: unknown[] = [kind, Math.min(limit, 1_000_000)];
    const conditions = ['kind = $1', 'body is not null'];
    const add = (sql: string, ...given: readonly unknown[]): void => {
      conditions.push(given.reduce<string>((text, value) => text.replace('?', `$${values.push(value)}`), sql));
    };
    if (tenant !== undefined) add('tenant = ?', tenant);
    if (from !== undefined) add('at >= ?', Math.round(from));
    if (to !== undefined) add('at <= ?', Math.round(to));
    if (after) add('(at < ? or (at = ? and id > ?))', after.at, after.at, after.id);
    const rows = await this.#database.query<Row>(
      `select * from ${this.#table} where ${conditions.join(' and ')} order by at desc, id collate "C" limit $2`,
      values,
    );
    return rows.map((row) => recordOf<Kind>(row));
  }

  async prune(kind: RecordKind, { before, keep }: { readonly before: number; readonly keep: number }): Promise<number> {
    const [row] = await this.#database.query<{ count: number }>(
      `with gone as (delete from ${this.#table} where kind = $1 and (at < $2 or at < (
         select at from ${this.#table} where kind = $1 order by at desc offset $3 limit 1)) returning 1),
       forgotten as (delete from ${this.#table} where body is null and kind <> $1
         and changed_at < clock_timestamp() - interval '1 day')
       select count(*)::integer as count from gone`,
      [kind, Math.round(before), keep],
    );
    return row?.count ?? 0;
  }

  onChange(callback: (change: RecordChange) => void): () => void {
    this.#callbacks.add(callback);
    if (!this.#stopListening) {
      this.#stopListening = this.#database.listen(topic, () => this.#searchSoon());
      this.#searchSoon();
    }
    return () => this.#callbacks.delete(callback);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#notifying);
    clearTimeout(this.#polling);
    this.#stopListening?.();
    this.#callbacks.clear();
    await this.#search;
  }

  async #row<Kind extends RecordKind>(
    kind: Kind,
    id: string,
  ): Promise<{ readonly record: StoredRecord<Kind>; readonly version: string } | undefined> {
    const [row] = await this.#database.query<Row>(
      `select * from ${this.#table} where kind = $1 and id = $2 and body is not null`,
      [kind, id],
    );
    return row && { record: recordOf<Kind>(row), version: row.version };
  }

  /** Notifies all processes, this one included. */
  #announce(): void {
    if (this.#isClosed) return;
    this.#notifying ??= setTimeout(() => {
      this.#notifying = undefined;
      const { channel, settings } = this.#database;
      this.#database.query('select pg_notify($1, $2)', [channel, topic]).catch((error: unknown) => {
        // Other processes find the change with their next search.
        settings.onProblem(error as never);
      });
      this.#searchSoon();
    }, notifyMs);
  }

  #searchSoon(): void {
    if (this.#isSearchDue || this.#isClosed) return;
    this.#isSearchDue = true;
    clearTimeout(this.#polling);
    this.#search = this.#search.then(async () => {
      this.#isSearchDue = false;
      if (this.#isClosed) return;
      let isComplete = true;
      try {
        isComplete = await this.#find();
      } catch (error) {
        this.#database.settings.onProblem(error as never);
      }
      clearTimeout(this.#polling);
      if (!this.#isClosed) this.#polling = setTimeout(() => this.#searchSoon(), isComplete ? pollMs : againMs);
    });
  }

  /** Reports the changes of transactions that have ended. @returns whether no other transaction was running */
  async #find(): Promise<boolean> {
    if (this.#seen === undefined) {
      const [row] = await this.#database.query<{ oldest: string }>(
        'select pg_snapshot_xmin(pg_current_snapshot())::text as oldest',
      );
      this.#seen = row?.oldest ?? '0';
      return false;
    }
    const rows = await this.#database.query<{
      oldest: string;
      is_complete: boolean;
      kind: RecordKind | null;
      id: string;
      tenant: string;
      is_deleted: boolean;
    }>(
      `with now as (select pg_snapshot_xmin(pg_current_snapshot()) as oldest,
         pg_snapshot_xmin(pg_current_snapshot()) = pg_snapshot_xmax(pg_current_snapshot()) as is_complete)
       select now.oldest::text, now.is_complete, r.kind, r.id, r.tenant, r.body is null as is_deleted
       from now left join ${this.#table} r on r.changed >= $1::xid8 and r.changed < now.oldest order by r.changed`,
      [this.#seen],
    );
    this.#seen = rows[0]?.oldest ?? this.#seen;
    for (const { kind, id, tenant, is_deleted: isDeleted } of rows) {
      if (kind === null) continue;
      for (const callback of this.#callbacks) callback({ kind, id, tenant, isDeleted });
    }
    return rows[0]?.is_complete ?? true;
  }
}

const recordOf = <Kind extends RecordKind>({ kind, id, tenant, at, body }: Row): StoredRecord<Kind> => ({
  kind: kind as Kind,
  id,
  tenant,
  at: Number(at),
  body: JSON.parse(body) as StoredRecord<Kind>['body'],
});
