import { checkOptions, checkValue, instanceOf, integerFrom, nonEmptyString, numberFrom } from '@h/options';
import type { ApprovalDecision } from '@h/turn';
import { newId } from './clock.js';
import { keyOf } from './keys.js';
import { Postgres } from './postgres.js';

/** A call that waits for an approval, in whichever process its turn runs. */
export interface ApprovalRequest {
  readonly id: string;
  readonly session: string;
  readonly turn: string;
  readonly reason: string;
  readonly call?: { readonly id: string; readonly name: string; readonly input: unknown } | undefined;
  /** When the request expires, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
}

/** Approval requests of turns in all workers, and their answers. */
export interface ApprovalRequests {
  /** Returns the requests without an answer whose turn has not ended, oldest first. */
  pending(options?: { readonly limit?: number | undefined }): Promise<readonly ApprovalRequest[]>;
  /**
   * Answers a request, from any process. The worker that runs the turn applies the answer, also one that resumes the
   * turn later.
   *
   * @returns whether this is the first answer of a known request
   */
  answer(id: string, decision: ApprovalDecision | ApprovalDecision['decision']): Promise<boolean>;
  /** Calls back when a request or an answer was stored, and when notifications may have been lost. */
  onChange(callback: () => void): () => void;
  /** Stores a request, which may be stored already. `runWorker()` calls it. */
  add(request: ApprovalRequest): Promise<void>;
  /** Returns the answers of these requests. `runWorker()` calls it. */
  answersOf(ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalDecision>>;
  /** Removes requests of this age, in milliseconds. Their turns can no longer be answered. @returns their number */
  prune(olderThanMs: number): Promise<number>;
}

const owner = 'postgresApprovalRequests()';
const topic = 'approvals';

/**
 * Approval requests in PostgreSQL, so that a web process answers requests of turns that run in workers.
 *
 * The first answer stays: later ones, also of other processes, have no effect. It is applied once, because the journal
 * of the turn contains it then.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const approvals = postgresApprovalRequests(database);
 * runWorker({ agent, lanes, sessions, inbox, approvals }); // in a worker
 * for (const { id } of await approvals.pending()) await approvals.answer(id, 'once'); // in a web process
 * ```
 */
export const postgresApprovalRequests = (database: Postgres): ApprovalRequests => {
  checkValue(owner, 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  const table = database.name('approval_request');
  return {
    pending: async (options = {}) => {
      checkOptions('pending()', options, { limit: integerFrom(1) });
      const rows = await database.query<{ body: string }>(
        `select r.body from ${table} r where r.answer is null and exists (
           select 1 from ${database.name('session')} s where s.latest_key = r.turn and not s.has_ended
         ) order by r.requested_at, r.id limit $1`,
        [options.limit ?? 1000],
      );
      return rows.map(({ body }) => JSON.parse(body) as ApprovalRequest);
    },
    answer: async (id, decision) => {
      checkValue('answer()', 'id', id, nonEmptyString);
      const answer: ApprovalDecision = typeof decision === 'string' ? { decision } : decision;
      // The statement may be repeated, so it finds its own answer.
      const rows = await database.query(
        `with first as (
           update ${table} set answer = $2, answered_by = $3
           where id = $1 and (answer is null or answered_by = $3) returning id
         )
         select pg_notify($4, $5) from first`,
        [keyOf(id), JSON.stringify(answer), newId(), database.channel, topic],
      );
      return rows.length > 0;
    },
    onChange: (callback) => database.listen(topic, callback),
    add: async (request) => {
      await database.query(
        `with added as (
           insert into ${table} (id, turn, body) values ($1, $2, $3) on conflict do nothing returning id
         )
         select pg_notify($4, $5) from added`,
        [keyOf(request.id), keyOf(request.turn), JSON.stringify(request), database.channel, topic],
      );
    },
    answersOf: async (ids) => {
      const known = new Map(ids.map((id) => [keyOf(id), id]));
      const rows = await database.query<{ id: string; answer: string }>(
        `select id, answer from ${table} where id = any ($1::text[]) and answer is not null`,
        [[...known.keys()]],
      );
      return new Map(rows.map(({ id, answer }) => [known.get(id) ?? id, JSON.parse(answer) as ApprovalDecision]));
    },
    prune: async (olderThanMs) => {
      checkValue('prune()', 'olderThanMs', olderThanMs, numberFrom(0));
      const rows = await database.query(
        `delete from ${table} where requested_at < clock_timestamp() - $1 * interval '1 ms' returning 1`,
        [olderThanMs],
      );
      return rows.length;
    },
  };
};
