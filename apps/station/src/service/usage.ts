import type { Usage } from '@h/turn';
import type { StationUsage } from '../api/contract.js';

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
