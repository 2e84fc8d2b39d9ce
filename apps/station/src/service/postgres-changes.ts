import type { Postgres } from '@h/postgres';
import type { RecordChange, RecordKind } from './records.js';

/** How long changes are collected before other processes are notified, in milliseconds. */
const notifyMs = 30;
/** Interval of the search for changes whose notification was lost, in milliseconds. */
const pollMs = 5_000;
/** A search is repeated after this time while it sees changes that it cannot report yet, in milliseconds. */
const againMs = 50;
const topic = 'station';

/** Reports changes of records, also those of other processes, once each and in the order of their transactions. */
export class PostgresChanges {
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

  onChange(callback: (change: RecordChange) => void): () => void {
    this.#callbacks.add(callback);
    if (!this.#stopListening) {
      this.#stopListening = this.#database.listen(topic, () => this.#searchSoon());
      this.#searchSoon();
    }
    return () => this.#callbacks.delete(callback);
  }

  /** Notifies all processes, this one included. */
  announce(): void {
    if (this.#isClosed) return;
    this.#notifying ??= setTimeout(() => {
      this.#notifying = undefined;
      const { channel, settings } = this.#database;
      this.#database.query('select pg_notify($1, $2)', [channel, topic]).catch((error: unknown) => {
        // Other processes find the change with their next search.
        settings.onProblem(error as never);
        this.#searchSoon();
      });
    }, notifyMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#notifying);
    clearTimeout(this.#polling);
    this.#stopListening?.();
    this.#callbacks.clear();
    await this.#search;
  }

  #searchSoon(): void {
    if (this.#isSearchDue || this.#isClosed || this.#callbacks.size === 0) return;
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

  /**
   * Reports the changes of transactions before the oldest that runs. A change after it is reported when that transaction
   * has ended, because an earlier change could become visible after it.
   *
   * @returns whether all visible changes were reported
   */
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
         not exists (select 1 from ${this.#table} where changed >= pg_snapshot_xmin(pg_current_snapshot())) as is_complete)
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
