import { expect, it } from 'vitest';
import { TenantBudgets } from './tenant-budgets.js';

it('begins the day again, with what is stored, after the clock was months ahead', async () => {
  const budgets = new TenantBudgets({ max_tokens: 1_000 });
  const now = Date.parse('2026-11-22T12:00:00Z');
  budgets.budgetOf('acme', now + 200 * 86_400_000)?.spend({ outputTokens: 1_000 });
  await budgets.refresh('s', now, {
    tenantOf: () => Promise.resolve('acme'),
    usedToday: () => Promise.resolve({ inputTokens: 300, outputTokens: 0, cost: 0 }),
  });
  expect(budgets.budgetOf('acme', now)?.used()).toMatchObject({ inputTokens: 300, outputTokens: 0 });
});
