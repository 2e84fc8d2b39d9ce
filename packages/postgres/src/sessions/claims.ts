import { SessionBusyError } from '@h/turn';
import { newId } from '../clock.js';
import { toPostgresError } from '../errors.js';
import { isAlive } from '../holders.js';
import { encodeName, keyOf } from '../keys.js';
import type { Postgres } from '../postgres.js';

/** A session that this process holds. */
export interface Claim {
  readonly session: string;
  /** Identifies the claim, also while it is not known whether it succeeded. */
  readonly token: string;
  /** The id of the session. */
  readonly id: string;
  /** Each claim of a session has a larger one, and records are written only with the latest. */
  readonly fence: string;
  /** The size of all records of the session. */
  readonly bytes: number;
}

interface ClaimRow {
  readonly id: string;
  readonly fence: string;
  readonly bytes: string;
}

/** How long a release is tried before it is left to the next renewal of the lease. */
const releaseRetryMs = 2_000;

/**
 * The claims of sessions of one connection.
 *
 * A process holds what it has claimed as long as it renews its lease. So a session whose release failed, or whose claim
 * succeeded without an answer, would be held for days: it is released after the next renewal.
 */
export class SessionClaims {
  static readonly #all = new WeakMap<Postgres, SessionClaims>();
  readonly #database: Postgres;
  readonly #inUse = new Set<string>();
  #stopWaiting: (() => void) | undefined;

  private constructor(database: Postgres) {
    this.#database = database;
  }

  /** Returns the claims of a connection. Several stores may use it. */
  static of(database: Postgres): SessionClaims {
    const claims = SessionClaims.#all.get(database) ?? new SessionClaims(database);
    SessionClaims.#all.set(database, claims);
    return claims;
  }

  /** @throws SessionBusyError if another process, or another claim of this one, holds the session */
  async claim(session: string): Promise<Claim> {
    await this.#database.lease();
    const token = newId();
    this.#inUse.add(token);
    try {
      const [row] = await this.#database.query<ClaimRow>(
        `insert into ${this.#table} as s (key, name, fence, owner, claim, claimed_at)
         values ($1, $2, 1, $3, $4, clock_timestamp())
         on conflict (key) do update
           set fence = s.fence + 1, owner = excluded.owner, claim = excluded.claim, claimed_at = excluded.claimed_at
           where s.owner is null or s.claim = excluded.claim or not ${isAlive(this.#database, 's.owner')}
         returning id, fence, bytes`,
        [keyOf(session), encodeName(session), this.#database.id, token],
      );
      if (row) return { session, token, id: row.id, fence: row.fence, bytes: Number(row.bytes) };
    } catch (error) {
      this.#inUse.delete(token);
      this.#releaseLater();
      throw error;
    }
    this.#inUse.delete(token);
    throw await this.#busyError(session);
  }

  /** Releases a session, now or later, and removes it if it has no turn. Never rejects. */
  async release({ session, token }: Claim): Promise<void> {
    this.#inUse.delete(token);
    try {
      await this.#release([keyOf(session)], [token], releaseRetryMs);
    } catch (error) {
      this.#database.settings.onProblem(toPostgresError(error));
      this.#releaseLater();
    }
  }

  async #busyError(session: string): Promise<SessionBusyError> {
    const [holder] = await this.#database.query<{ label: string | null; claimed_at: Date | null }>(
      `select p.label, s.claimed_at from ${this.#table} s
       left join ${this.#database.name('process')} p on p.id = s.owner where s.key = $1`,
      [keyOf(session)],
    );
    // The session may have been released since.
    return holder?.label && holder.claimed_at
      ? new SessionBusyError(session, { owner: holder.label, since: holder.claimed_at.getTime() })
      : new SessionBusyError(session);
  }

  #releaseLater(): void {
    this.#stopWaiting ??= this.#database.onRenewal(() => {
      this.#stopWaiting?.();
      this.#stopWaiting = undefined;
      this.#releaseUnused().catch((error: unknown) => {
        this.#database.settings.onProblem(toPostgresError(error));
        this.#releaseLater();
      });
    });
  }

  /** Releases what the table says that this process holds, and what it does not use. */
  async #releaseUnused(): Promise<void> {
    const rows = await this.#database.query<{ key: string; claim: string }>(
      `select key, claim from ${this.#table} where owner = $1`,
      [this.#database.id],
      { retryMs: 0 },
    );
    const unused = rows.filter(({ claim }) => !this.#inUse.has(claim));
    const [keys, tokens] = [unused.map(({ key }) => key), unused.map(({ claim }) => claim)];
    if (unused.length > 0) await this.#release(keys, tokens, 0);
  }

  async #release(keys: readonly string[], tokens: readonly string[], retryMs: number): Promise<void> {
    const given = `unnest($1::text[], $2::uuid[]) as given (key, claim)`;
    await this.#database.query(
      `with empty as (
         delete from ${this.#table} s using ${given} where s.key = given.key and s.claim = given.claim and s.turns = 0
       )
       update ${this.#table} s set owner = null, claim = null, claimed_at = null
       from ${given} where s.key = given.key and s.claim = given.claim and s.turns > 0`,
      [keys, tokens],
      { retryMs },
    );
  }

  get #table(): string {
    return this.#database.name('session');
  }
}
