import type { ApprovalStore, RememberedApproval } from '@h/hooks';
import { checkOptions, checkValue, instanceOf, integerFrom, nonEmptyString } from '@h/options';
import { keyOf } from './keys.js';
import { Postgres } from './postgres.js';

export { postgresApprovalRequests, type ApprovalRequest, type ApprovalRequests } from './approval-requests.js';

/** Options of {@link postgresApprovals}. */
export interface PostgresApprovalsOptions {
  /**
   * The scope of the rules, such as the name of a user.
   *
   * @defaultValue `'approvals'`
   */
  readonly scope?: string | undefined;
  /**
   * The maximum number of rules. Beyond it, the store removes the oldest rules.
   *
   * @defaultValue `1000`, more than a user creates in years
   */
  readonly maxRules?: number | undefined;
}

const owner = 'postgresApprovals()';

/**
 * Stores lasting approvals in PostgreSQL. They are read before each request, so that a removed rule no longer applies.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * hooks([approvals()], { approvalStore: postgresApprovals(database, { scope: 'alice' }) });
 * ```
 */
export const postgresApprovals = (database: Postgres, options: PostgresApprovalsOptions = {}): ApprovalStore => {
  checkValue(owner, 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  checkOptions(owner, options, { scope: nonEmptyString, maxRules: integerFrom(1, Infinity) });
  const { maxRules = 1000 } = options;
  const scope = keyOf(options.scope ?? 'approvals');
  const table = database.name('approval');
  return {
    list: async () => {
      const rows = await database.query<{ body: string }>(
        `select body from ${table} where store = $1 order by number`,
        [scope],
      );
      return rows.map(({ body }) => JSON.parse(body) as RememberedApproval);
    },
    add: async (rule) => {
      const { tool, pattern, hash } = rule;
      const key = keyOf(JSON.stringify([tool, pattern ?? null, hash ?? null]));
      await database.query(
        `insert into ${table} (store, key, body) values ($1, $2, $3) on conflict (store, key) do nothing`,
        [scope, key, JSON.stringify(rule)],
      );
      if (!Number.isFinite(maxRules)) return;
      await database.query(
        `delete from ${table} where store = $1 and number <= (
           select number from ${table} where store = $1 order by number desc offset $2 limit 1)`,
        [scope, maxRules],
      );
    },
  };
};
