import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBudget } from '@h/guardrails';
import { expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { openPlanUse } from './plan-use.js';

const limits = { name: 'plan', maxTokens: 1_000, maxCost: 2 };

/** Opens the use of a plan with a new budget, as a process does. */
const start = async (file: string, prompt?: string) => {
  const budget = createBudget(limits);
  const use = await openPlanUse(file, prompt, budget);
  onTestFinished(() => use.close());
  return { budget, use };
};
const fileOf = (): string => join(temporaryFolder(), 'plans', 'use.json');

it('continues the budget of a run that was interrupted, and that of no other plan', async () => {
  const file = fileOf();
  for (const before of [0, 1, 2, 3]) {
    const { budget, use } = await start(file, before < 2 ? 'Build it' : undefined);
    expect(budget.used()).toMatchObject({ outputTokens: 100 * before, cost: 0.25 * before });
    expect(use.before).toHaveLength(before === 0 ? 0 : 2);
    budget.reserve({ steps: 1 })?.settle({ outputTokens: 100, cost: 0.25 });
    await vi.waitFor(() => expect(existsSync(file)).toBe(true));
    await use.close();
  }
  expect((await start(file, 'Build another')).budget.used()).toMatchObject({ outputTokens: 0, cost: 0 });
});

it('begins a new budget after a run that was not interrupted', async () => {
  const file = fileOf();
  const { budget, use } = await start(file);
  budget.reserve({ steps: 1 })?.settle({ outputTokens: 100 });
  await use.forget();
  expect((await start(file)).budget.used()).toMatchObject({ outputTokens: 0 });
});

it.each(['{ "used": ', '{ "used": { "outputTokens": -1 } }', '{}', 'null'])(
  'refuses to continue with the damaged file %s',
  async (text) => {
    const file = join(temporaryFolder(), 'use.json');
    await writeFile(file, text);
    await expect(start(file)).rejects.toThrow(`--plan: ${file} is damaged. Remove it to continue`);
  },
);

it.each(['null', '[]', '7'])('begins another plan with a new budget although the file contains %s', async (text) => {
  const file = join(temporaryFolder(), 'use.json');
  await writeFile(file, text);
  expect((await start(file, 'Build it')).budget.used()).toMatchObject({ outputTokens: 0 });
});
