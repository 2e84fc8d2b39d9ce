import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { noUsage, type Usage } from '@h/turn';

/**
 * Converts the usage of a call and counts each token once: `input` includes cache reads and writes, `output` includes
 * reasoning. Missing or invalid counts are 0.
 *
 * If a total is smaller than its parts, it excludes them (some older providers report cached tokens separately), so the
 * parts are added.
 */
export const toUsage = (usage: LanguageModelV4Usage | undefined): Usage => {
  if (!usage) return noUsage;
  const cacheRead = count(usage.inputTokens?.cacheRead);
  const cacheWrite = count(usage.inputTokens?.cacheWrite);
  const reasoning = count(usage.outputTokens?.reasoning);
  return {
    input: total(count(usage.inputTokens?.total), count(usage.inputTokens?.noCache), cacheRead + cacheWrite),
    cacheRead,
    cacheWrite,
    output: total(count(usage.outputTokens?.total), count(usage.outputTokens?.text), reasoning),
    reasoning,
  };
};

const count = (tokens: number | undefined): number =>
  tokens !== undefined && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;

const total = (stated: number, rest: number, part: number): number => {
  const sum = rest + part;
  if (stated >= sum) return stated;
  return rest > 0 ? sum : stated + part;
};
