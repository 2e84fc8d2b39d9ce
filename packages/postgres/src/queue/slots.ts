import type { SharedSlots, SharedSlotsHost, SlotRequest } from '@h/queue/shared';
import type { TurnPriority } from '@h/turn';
import { monotonicMs, newId } from '../clock.js';
import { toPostgresError, type PostgresError } from '../errors.js';
import { keyOf } from '../keys.js';
import type { Postgres } from '../postgres.js';

/** Settings of {@link PostgresSlots}. */
export interface SlotsSettings {
  readonly name: string;
  readonly concurrency: number;
  readonly reserved: number;
  readonly ageMs: number | null;
  readonly leaseMs: number;
  /** Called before the slots of this process are reported as lost. */
  readonly onLost: () => void;
}

type Change = { readonly type: string; readonly ticket: number } & Readonly<Record<string, unknown>>;

interface GrantRow {
  readonly ticket: string;
  readonly fence: string;
  readonly granted: string;
  readonly is_lost: boolean;
}

/** The largest number of slots. */
export const maxConcurrency = 1_000_000;

const renewalsPerLease = 3;
const firstPauseMs = 50;
const longestPauseMs = 1_000;
/** Changes of one call. */
const maxChanges = 2_000;

/**
 * Slots in PostgreSQL. One statement renews the lease of this worker, applies its changes, admits requests and returns
 * new slots; changes that arrive during a call are applied together by the next one.
 *
 * Batches are numbered, so that one whose answer was lost can be repeated.
 */
export class PostgresSlots implements SharedSlots {
  readonly #database: Postgres;
  readonly #settings: SlotsSettings;
  #host: SharedSlotsHost | undefined;
  #worker: string;
  #isNew = true;
  #stopListening: () => void = () => undefined;
  /** Changes that were not sent, by ticket. */
  #changes = new Map<number, Change[]>();
  #batch = 0;
  #seen = '0';
  #syncing: Promise<void> | undefined;
  #isDue = false;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #expiry: ReturnType<typeof setTimeout> | undefined;
  #resumed: (() => void) | undefined;
  #renewedAt = -Infinity;
  #closing: Promise<void> | undefined;

  constructor(database: Postgres, settings: SlotsSettings) {
    this.#database = database;
    this.#settings = settings;
    this.#worker = newId();
  }

  /** False from the end of the lease, even if its timer has not fired yet. */
  get isHeld(): boolean {
    return monotonicMs() - this.#renewedAt < this.#settings.leaseMs;
  }

  attach(host: SharedSlotsHost): void {
    this.#host = host;
  }

  enter(ticket: number, { session, priority, isAhead, groups }: SlotRequest): void {
    this.#change({
      type: 'enter',
      ticket,
      session: keyOf(session),
      priority: ranks[priority],
      isAhead,
      groups: groups.map(({ name }) => name),
      // A group never has more slots than the lanes.
      limits: groups.map(({ concurrency }) => Math.min(concurrency, maxConcurrency)),
    });
  }

  end(ticket: number): void {
    const unsent = this.#changes.get(ticket);
    this.#changes.delete(ticket);
    // A request that was never sent needs no end.
    if (unsent?.[0]?.type !== 'enter') this.#change({ type: 'end', ticket });
  }

  lend(ticket: number): void {
    this.#change({ type: 'lend', ticket });
  }

  reclaim(ticket: number, priority: TurnPriority): void {
    this.#change({ type: 'reclaim', ticket, priority: ranks[priority] });
  }

  decline(ticket: number): void {
    this.#change({ type: 'decline', ticket });
  }

  reprioritize(ticket: number, priority: TurnPriority, isRaised: boolean): void {
    this.#change({ type: 'reprioritize', ticket, priority: ranks[priority], isRaised });
  }

  /** Sends the last changes and leaves the lanes. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #change(change: Change): void {
    const known = this.#changes.get(change.ticket);
    if (known) known.push(change);
    else this.#changes.set(change.ticket, [change]);
    this.#sync();
  }

  /** Calls the database now, or again after the call under way. */
  #sync(): void {
    this.#isDue = true;
    this.#syncing ??= this.#syncAll();
  }

  /** Never rejects. */
  async #syncAll(): Promise<void> {
    // Changes of the same tick share a call.
    await Promise.resolve();
    let pauseMs = firstPauseMs;
    let batch: readonly Change[] | undefined;
    while (this.#isDue || batch) {
      if (!batch) {
        this.#isDue = false;
        batch = this.#takeBatch();
        this.#batch += 1;
      }
      const worker = this.#worker;
      try {
        await this.#call(worker, batch);
        batch = undefined;
        pauseMs = firstPauseMs;
      } catch (error) {
        const failure = toPostgresError(error);
        this.#database.settings.onProblem(failure);
        if (this.#closing || failure.code === 'database-closed') break;
        if (!failure.isRetryable) this.#fail(failure);
        await this.#pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
      }
      // The requests were entered again, for a new worker.
      if (worker !== this.#worker) batch = undefined;
    }
    // In the same tick as the last look at the changes, so that none is left behind.
    this.#syncing = undefined;
  }

  #takeBatch(): readonly Change[] {
    const batch: Change[] = [];
    for (const [ticket, changes] of this.#changes) {
      if (batch.length >= maxChanges) {
        this.#isDue = true;
        break;
      }
      batch.push(...changes);
      this.#changes.delete(ticket);
    }
    return batch;
  }

  async #call(worker: string, batch: readonly Change[]): Promise<void> {
    const { name, concurrency, reserved, ageMs, leaseMs } = this.#settings;
    const startedAt = monotonicMs();
    if (this.#isNew) {
      this.#stopListening();
      this.#stopListening = this.#database.listen(`lanes:${worker}`, () => this.#sync());
    }
    const rows = await this.#database.query<GrantRow>(
      `select * from ${this.#database.name('lane_sync')}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        name,
        this.#database.channel,
        worker,
        this.#isNew,
        leaseMs,
        concurrency,
        reserved,
        ageMs,
        this.#batch,
        JSON.stringify(batch),
        this.#seen,
      ],
      { retryMs: 0, timeoutMs: Math.max(leaseMs / renewalsPerLease, minTimeoutMs) },
    );
    if (worker !== this.#worker) return;
    if (rows[0]?.is_lost === true) {
      this.#lose();
      return;
    }
    this.#isNew = false;
    // The lease begins before the call does.
    this.#renewedAt = startedAt;
    this.#schedule();
    for (const { ticket, fence, granted } of rows) {
      this.#seen = granted;
      this.#host?.granted(Number(ticket), Number(fence));
    }
  }

  #schedule(): void {
    const { leaseMs } = this.#settings;
    clearTimeout(this.#renewal);
    clearTimeout(this.#expiry);
    if (this.#closing) return;
    this.#renewal = setTimeout(() => this.#sync(), leaseMs / renewalsPerLease);
    this.#expiry = setTimeout(
      () => (this.isHeld ? this.#schedule() : this.#lose()),
      Math.max(0, this.#renewedAt + leaseMs - monotonicMs()),
    );
    this.#renewal.unref();
    this.#expiry.unref();
  }

  /** Begins again as a new worker, with its requests behind the waiting ones. */
  #lose(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#expiry);
    this.#restart();
    this.#settings.onLost();
    this.#host?.lost();
    this.#dropReleases();
    this.#sync();
  }

  /** Refuses waiting requests. Changes are retried only while this process may hold slots, which they may release. */
  #fail(error: PostgresError): void {
    const mayHold = !this.#isNew;
    if (!mayHold) this.#restart();
    this.#host?.failed(error);
    if (!mayHold) this.#dropReleases();
  }

  #restart(): void {
    this.#worker = newId();
    this.#isNew = true;
    this.#changes = new Map();
    this.#batch = 0;
    this.#seen = '0';
    this.#renewedAt = -Infinity;
  }

  /** Releases of work that was lost concern the earlier worker. */
  #dropReleases(): void {
    for (const [ticket, [first]] of this.#changes) if (first?.type !== 'enter') this.#changes.delete(ticket);
    this.#isDue = this.#changes.size > 0;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#resumed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #close(): Promise<void> {
    this.#resumed?.();
    clearTimeout(this.#renewal);
    clearTimeout(this.#expiry);
    this.#stopListening();
    await this.#syncing;
    if (this.#isNew) return;
    const name = (table: string): string => this.#database.name(table);
    // Without the worker, the next call of another one admits in its place.
    await this.#database
      .query(
        `with gone as (delete from ${name('lane_worker')} where id = $1 returning id, lanes),
         requests as (delete from ${name('lane_request')} using gone where worker = gone.id)
         select pg_notify('${this.#database.channel}', 'lanes:' || w.id) from gone
         join ${name('lane_worker')} w on w.lanes = gone.lanes and w.id <> gone.id`,
        [this.#worker],
        { retryMs: 0, timeoutMs: closeTimeoutMs },
      )
      .catch((error: unknown) => this.#database.settings.onProblem(toPostgresError(error)));
  }
}

const minTimeoutMs = 1_000;
const closeTimeoutMs = 2_000;

const ranks: Readonly<Record<TurnPriority, number>> = { foreground: 0, normal: 1, background: 2 };
