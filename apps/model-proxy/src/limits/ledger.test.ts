import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { Ledger } from './ledger.js';

const dayMs = 86_400_000;
const start = Date.parse('2026-11-22T12:00:00Z');
const party = { client: 'a', conversation: 'c' };
const limits = { client: {}, conversation: {}, day: { tokens: 1_000 } };

/** Opens a ledger with a clock, and counts calls. */
const openAt = async (folder: string, at: number) => {
  const clock = { now: at };
  const ledger = await Ledger.open({ folder, warnAt: 1, now: () => clock.now, random: () => 0 });
  const count = (tokens: number): void => ledger.admit(party, limits, { tokens, cost: 0 }).settle({ tokens, cost: 0 });
  return { clock, ledger, count };
};

describe('a clock that was months ahead', () => {
  it('begins the days of a running ledger again', async () => {
    const { clock, ledger, count } = await openAt(temporaryFolder(), start + 200 * dayMs);
    count(900);
    clock.now = start;
    expect(() => count(200)).toThrow('has used 900 tokens of 1000 tokens today');
    clock.now += dayMs;
    count(200);
    await ledger.close();
  });

  it('hides nothing from later processes that earlier ones have counted since', async () => {
    const folder = temporaryFolder();
    for (const [at, tokens] of [
      [start, 100],
      [start + 200 * dayMs, 100],
      [start, 300],
      [start, 400],
    ] as const) {
      const { ledger, count } = await openAt(folder, at);
      count(tokens);
      await ledger.close();
    }
    const { ledger, count } = await openAt(folder, start);
    expect(() => count(300)).toThrow('has used 800 tokens of 1000 tokens today');
    await ledger.close();
  });
});
