import {
  anyFunction,
  checkOptions,
  checkValue,
  InvalidOptionError,
  instanceOf,
  nonEmptyString,
  numberFrom,
  objectOf,
  showValue,
  type OptionChecks,
} from '@h/options';
import { intercept, stop, toErrorInfo, TurnError, type TurnEventOf, type TurnOperator } from '@h/turn';
import { newId } from './clock.js';
import { toPostgresError } from './errors.js';
import { keyOf } from './keys.js';
import { Postgres } from './postgres.js';

/** What is counted. The cost has the currency of the caller. */
export interface BudgetAmounts {
  readonly modelCalls?: number | undefined;
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
}

/** Options of {@link postgresBudget}. */
export interface PostgresBudgetOptions {
  /** The name of the budget. Processes with the same name spend from it together. */
  readonly name: string;
  /** The limits of the budget. Those of the latest reservation apply. */
  readonly limits: BudgetAmounts;
  /**
   * What a model call may use at most, reserved before the call. A call that uses more exceeds the limit by the rest.
   *
   * @defaultValue one model call
   */
  readonly perCall?: BudgetAmounts | ((request: TurnEventOf<'model.request'>) => BudgetAmounts) | undefined;
  /** Returns the cost of an answer. A limit on cost needs it, or the cost of `perCall`, which is counted then. */
  readonly costOf?: ((response: TurnEventOf<'model.response'>) => number) | undefined;
}

/** Amounts that are reserved until they are settled. */
export interface PostgresReservation {
  /**
   * Ends the reservation and counts what was used. Further calls have no effect. If it rejects because the database is
   * unavailable, the reservation ends when the database is available again.
   */
  settle(used?: BudgetAmounts): Promise<void>;
}

/** A budget that processes share. */
export interface PostgresBudget {
  /**
   * Reserves amounts before they are used.
   *
   * @throws BudgetExceededError if not enough is left, or the budget was cut off
   */
  reserve(amounts: BudgetAmounts): Promise<PostgresReservation>;
  /** Returns what was used, and what is reserved for calls under way. */
  state(): Promise<{ readonly used: BudgetAmounts; readonly reserved: BudgetAmounts; readonly cutOff?: string }>;
  /** Refuses further reservations in all processes, until it is called with `undefined`. */
  cutOff(reason: string | undefined): Promise<void>;
  /** An operator that reserves `perCall` before each model call, and ends the turn as `budget-exceeded`. */
  operator(): TurnOperator;
}

/** Thrown if a budget does not cover a reservation. `code` is `budget-exceeded`. */
export class BudgetExceededError extends TurnError {
  /** The limit that does not cover it; `undefined` if the budget was cut off. */
  readonly limit: string | undefined;

  constructor(name: string, limit: string | undefined, max: number | undefined, cutOff: string | null) {
    super(
      'budget-exceeded',
      limit === undefined
        ? `The budget ${JSON.stringify(name)} was cut off: ${cutOff ?? ''}`
        : `The budget ${JSON.stringify(name)} does not cover another call: its limit of ${max} ${limit} is used or reserved. Raise the limit or wait for calls under way.`,
    );
    this.limit = limit;
  }
}

interface ReserveRow {
  readonly is_granted: boolean;
  readonly exceeded: string | null;
  readonly cut_off: string | null;
}

const owner = 'postgresBudget()';
const amounts = { modelCalls: numberFrom(0), tokens: numberFrom(0), cost: numberFrom(0) };
const amountsCheck = objectOf(amounts);

const checks: OptionChecks<PostgresBudgetOptions> = {
  name: { ...nonEmptyString, isRequired: true },
  limits: { ...amountsCheck, isRequired: true },
  perCall: {
    expected: 'amounts or a function that returns them',
    accepts: (value) => anyFunction.accepts(value) || amountsCheck.accepts(value),
  },
  costOf: anyFunction,
};

/**
 * A budget of model calls, tokens and cost that all processes spend from together.
 *
 * Amounts are reserved before a call, in one statement that locks the row of the budget: used and reserved amounts never
 * exceed a limit by reservations. Reservations of a process that died count as used, because its calls may have been
 * billed. A turn that cannot reach the database makes no call.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const budget = postgresBudget(database, { name: 'acme', limits: { tokens: 2_000_000 }, perCall: { tokens: 40_000 } });
 * const agent = harness({ model, sessions }).pipe(queue(lanes), budget.operator());
 * ```
 */
export const postgresBudget = (database: Postgres, options: PostgresBudgetOptions): PostgresBudget => {
  checkValue(owner, 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  checkOptions(owner, options, checks);
  const { name, limits, perCall = { modelCalls: 1 }, costOf } = options;
  const key = keyOf(name);
  /** Reservations of this process whose end is not stored, and what they have used. */
  const unsettled = new Map<string, BudgetAmounts>();
  let stopWaiting: (() => void) | undefined;
  /** Otherwise a reservation would stay as long as this process lives. */
  const settleLater = (reservation: string, amount: BudgetAmounts): void => {
    unsettled.set(reservation, amount);
    stopWaiting ??= database.onRenewal(() => {
      stopWaiting?.();
      stopWaiting = undefined;
      const given = [...unsettled];
      unsettled.clear();
      for (const [id, used] of given) {
        settle(id, used).catch((error: unknown) => database.settings.onProblem(toPostgresError(error)));
      }
    });
  };
  const settle = async (id: string, used: BudgetAmounts): Promise<void> => {
    const sql = `select ${database.name('budget_settle')}($1, $2, $3)`;
    try {
      await database.query(sql, [key, id, JSON.stringify(used)]);
    } catch (error) {
      settleLater(id, used);
      throw error;
    }
  };
  const reserve = async (wanted: BudgetAmounts): Promise<PostgresReservation> => {
    checkOptions('reserve()', wanted, amounts);
    await database.lease();
    const id = newId();
    let row: ReserveRow | undefined;
    try {
      [row] = await database.query<ReserveRow>(`select * from ${database.name('budget_reserve')}($1, $2, $3, $4, $5)`, [
        key,
        JSON.stringify(limits),
        id,
        database.id,
        JSON.stringify(wanted),
      ]);
    } catch (error) {
      // The amounts may be reserved, and the answer lost.
      settleLater(id, {});
      throw error;
    }
    if (row?.is_granted !== true) {
      const limit = row?.cut_off === null ? (row.exceeded ?? undefined) : undefined;
      throw new BudgetExceededError(name, limit, limits[limit as keyof BudgetAmounts], row?.cut_off ?? null);
    }
    let settling: Promise<void> | undefined;
    return {
      settle: async (used = {}) => {
        checkOptions('settle()', used, amounts);
        await (settling ??= settle(id, used));
      },
    };
  };
  return {
    reserve,
    state: async () => {
      const sql = `select used, reserved, cut_off from ${database.name('budget')} where name = $1`;
      const [row] = await database.query<{ used: BudgetAmounts; reserved: BudgetAmounts; cut_off: string | null }>(
        sql,
        [key],
      );
      const { used = {}, reserved = {}, cut_off: cutOff = null } = row ?? {};
      return { used, reserved, ...(cutOff !== null && { cutOff }) };
    },
    cutOff: async (reason) => {
      // PostgreSQL stores no NUL character.
      await database.query(
        `insert into ${database.name('budget')} (name, limits, cut_off) values ($1, $2, $3)
         on conflict (name) do update set cut_off = excluded.cut_off`,
        [key, JSON.stringify(limits), reason?.replaceAll('\0', '\uFFFD') ?? null],
      );
    },
    operator: () => {
      if (limits.cost !== undefined && !costOf && typeof perCall !== 'function' && perCall.cost === undefined) {
        const message = `${owner}: "costOf" is required for a limit of the cost, or the cost of "perCall": otherwise, no cost is counted.`;
        throw new InvalidOptionError({ owner, option: 'costOf', message });
      }
      return intercept(
        'budget',
        () => {
          let current: { readonly reservation: PostgresReservation; readonly wanted: BudgetAmounts } | undefined;
          const end = (used: BudgetAmounts): void => {
            const ending = current?.reservation.settle(used);
            current = undefined;
            ending?.catch((error: unknown) => database.settings.onProblem(toPostgresError(error)));
          };
          return {
            decide: {
              'model.request': async (request, { signal }) => {
                const wanted = typeof perCall === 'function' ? perCall(request) : perCall;
                try {
                  const reservation = await reserve({ modelCalls: 1, ...wanted });
                  if (signal.aborted) await reservation.settle();
                  else current = { reservation, wanted };
                  return undefined;
                } catch (error) {
                  const { message } = error as Error;
                  const isSpent = error instanceof BudgetExceededError;
                  return stop(isSpent ? 'budget-exceeded' : 'error', message, toErrorInfo(error));
                }
              },
            },
            observe: {
              'model.response': (response) => {
                const { input, output } = response.usage;
                let cost = current?.wanted.cost;
                try {
                  if (costOf) cost = costIn(costOf, response);
                } finally {
                  end({ modelCalls: 1, tokens: input + output, ...(cost !== undefined && { cost }) });
                }
              },
              // A call that failed is billed by what it reports, or not at all.
              'model.error': ({ usage }) => end({ modelCalls: 1, tokens: usage ? usage.input + usage.output : 0 }),
            },
            // A call that was aborted may be billed in full.
            finalize: () => end({ modelCalls: 1, ...current?.wanted }),
          };
        },
        { after: ['queue'], before: ['tools'] },
      );
    },
  };
};

/** @throws TurnError if the result is not an amount: the call would cost nothing */
const costIn = (
  costOf: NonNullable<PostgresBudgetOptions['costOf']>,
  response: TurnEventOf<'model.response'>,
): number => {
  const cost: unknown = costOf(response);
  if (amounts.cost.accepts(cost)) return cost as number;
  throw new TurnError(
    'invalid-cost',
    `${owner}: "costOf" must return ${amounts.cost.expected}; received ${showValue(cost)}. The amount that was reserved counts as used.`,
  );
};
