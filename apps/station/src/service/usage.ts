import type { Usage } from '@h/turn';
import type { TenantUse } from '../agents/tenant-budgets.js';
import type { StationUsage } from '../api/contract.js';
import type { RecordQuery, Records, TurnBody } from './records.js';

export const noStationUsage: StationUsage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cost: 0,
});

/** A sum with an unknown cost has an unknown cost. */
export const addStationUsage = (left: StationUsage, right: StationUsage): StationUsage => ({
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
  cost: left.cost === null || right.cost === null ? null : left.cost + right.cost,
});

export const stationUsage = ({ input, output, cacheRead }: Usage, cost: number | undefined): StationUsage => ({
  inputTokens: input,
  outputTokens: output,
  cachedInputTokens: cacheRead,
  cost: cost ?? null,
});

/** Turn records that are read at once. */
const pageSize = 1_000;
const dayMs = 86_400_000;

/** Reads the turns of a tenant in a period. */
export const eachTurn = async (
  records: Records,
  query: Pick<RecordQuery, 'tenant' | 'from' | 'to'>,
  use: (turn: TurnBody) => void,
): Promise<void> => {
  for (let after: RecordQuery['after']; ;) {
    const page = await records.list('turn', { ...query, after, limit: pageSize });
    for (const { body } of page) use(body);
    after = page.at(-1);
    if (page.length < pageSize || after === undefined) return;
  }
};

/** Reads what tenants use from the records. Sessions of sub-agents have no records. */
export const tenantUse = (records: Records, now: () => number): TenantUse => ({
  tenantOf: async (session) => (await records.get('session', session))?.tenant,
  usedToday: async (tenant, isOwn) => {
    const use = () => ({ inputTokens: 0, outputTokens: 0, cost: 0 });
    const [own, others] = [use(), use()];
    const to = now();
    await eachTurn(records, { tenant, from: to - (to % dayMs), to }, ({ turn, endedAt, usage }) => {
      // A turn that runs or is resumed is counted by its process.
      const used = isOwn(turn) ? own : others;
      for (const { inputTokens, outputTokens, cost } of endedAt === null ? [] : Object.values(usage)) {
        used.inputTokens += inputTokens;
        used.outputTokens += outputTokens;
        used.cost += cost ?? 0;
      }
    });
    return { own, others };
  },
});
