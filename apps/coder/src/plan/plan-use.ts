import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ensureFolder, ifExists, replaceFile } from '@h/files';
import { describeLimit, type Amounts, type Budget } from '@h/guardrails';
import { UsageError } from '../usage-error.js';

/** Time after which the use is stored also without a model call, since commands take time of the budget. */
const intervalMs = 10_000;

/** The use of a budget that is stored while a plan runs. */
export interface PlanUse {
  /** What an interrupted run of the same plan had used, one sentence for each limit. */
  readonly before: readonly string[];
  /** Whether the time of the budget is over. */
  isTimeOver(): boolean;
  /** Stops storing the use. */
  close(): Promise<void>;
  /** Also removes the use: the plan was not interrupted, so the next run starts with an unused budget. */
  forget(): Promise<void>;
}

/**
 * Counts what an interrupted run of the plan has used as used, and stores the use after each model call, so that the
 * limits hold for all runs of a plan together until one of them ends without an interruption.
 *
 * @param prompt - `undefined` if the plan of the folder continues; another prompt than before begins another plan
 * @throws UsageError if the stored use is damaged
 */
export const openPlanUse = async (file: string, prompt: string | undefined, budget: Budget): Promise<PlanUse> => {
  const stored = await storedUse(file);
  const hasUse = stored !== undefined && (prompt === undefined || stored.prompt === prompt);
  if (hasUse) {
    try {
      budget.spend(stored.used);
    } catch (error) {
      throw damaged(file, error);
    }
  }
  await ensureFolder(dirname(file));
  let writing: Promise<unknown> | undefined;
  let isStale = false;
  const save = (): void => {
    isStale = true;
    writing ??= write().finally(() => {
      writing = undefined;
    });
  };
  const write = async (): Promise<void> => {
    while (isStale) {
      // What a call has used is counted after its reservation has ended.
      await Promise.resolve();
      isStale = false;
      // Without it, only the limits of a run that is killed are wrong.
      await replaceFile(file, JSON.stringify({ prompt: prompt ?? stored?.prompt, used: budget.used(Date.now()) }), {
        sync: false,
      }).catch(() => undefined);
    }
  };
  const unwatch = budget.watch(save);
  const timer = setInterval(save, intervalMs).unref();
  const close = async (): Promise<void> => {
    unwatch();
    clearInterval(timer);
    await writing;
  };
  return {
    before: hasUse ? budget.limits().flatMap((limit) => (limit.used > 0 ? [describeLimit(limit)] : [])) : [],
    isTimeOver: () =>
      budget.limits(Date.now()).some(({ limit, used, max }) => limit === 'maxDurationMs' && used >= max),
    close,
    forget: async () => {
      await close();
      await rm(file, { force: true });
    },
  };
};

const storedUse = async (file: string): Promise<{ readonly prompt?: unknown; readonly used: Amounts } | undefined> => {
  const text = await ifExists(readFile(file, 'utf8'));
  if (text === undefined) return undefined;
  try {
    // A spread, because the file may contain `null`.
    return { ...(JSON.parse(text) as { used: Amounts }) };
  } catch (error) {
    throw damaged(file, error);
  }
};

const damaged = (file: string, cause: unknown): UsageError =>
  new UsageError(`--plan: ${file} is damaged. Remove it to continue the plan with a new budget.`, { cause });
