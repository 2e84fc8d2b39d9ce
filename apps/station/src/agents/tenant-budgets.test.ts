import { expect, it } from 'vitest';
import { TenantBudgets } from './tenant-budgets.js';

const none = { inputTokens: 0, outputTokens: 0, cost: 0 };

it('begins the day again, with what is stored, after the clock was months ahead', async () => {
  const budgets = new TenantBudgets({ max_tokens: 1_000 });
  const now = Date.parse('2026-11-22T12:00:00Z');
  budgets.budgetOf('acme', now + 200 * 86_400_000)?.spend({ outputTokens: 1_000 });
  await budgets.refresh('s', now, {
    tenantOf: () => Promise.resolve('acme'),
    usedToday: () => Promise.resolve({ own: none, others: { ...none, inputTokens: 300 } }),
  });
  expect(budgets.budgetOf('acme', now)?.used()).toMatchObject({ inputTokens: 300, outputTokens: 0 });
});

it('adds what other processes have used to what running turns of this process use', async () => {
  const budgets = new TenantBudgets({ max_cost: 10 });
  const stored: { readonly turn: string; readonly cost: number }[] = [];
  const use = {
    tenantOf: () => Promise.resolve('acme'),
    usedToday: (_: string, isOwn: (turn: string) => boolean) => {
      const costOf = (wanted: boolean): number =>
        stored.filter(({ turn }) => isOwn(turn) === wanted).reduce((sum, { cost }) => sum + cost, 0);
      return Promise.resolve({ own: { ...none, cost: costOf(true) }, others: { ...none, cost: costOf(false) } });
    },
  };
  let now = Date.parse('2026-11-22T12:00:00Z');
  const costAfterRefresh = async (): Promise<number | undefined> => {
    now += 60_000;
    await budgets.refresh('s', now, use);
    return budgets.budgetOf('acme', now)?.used().cost;
  };
  budgets.budgetOf('acme', now, 'own')?.spend({ cost: 4 });
  stored.push({ turn: 'theirs', cost: 3 });
  expect(await costAfterRefresh()).toBe(7);
  expect(await costAfterRefresh()).toBe(7);
  stored.push({ turn: 'own', cost: 4 });
  expect(await costAfterRefresh()).toBe(7);
  stored.push({ turn: 'theirs too', cost: 2 });
  expect(await costAfterRefresh()).toBe(9);
});
