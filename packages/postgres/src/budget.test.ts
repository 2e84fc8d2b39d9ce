import { harness, reply } from '@h/turn';
import { response, scriptedModel } from '@h/turn/testing';
import { describe, expect, it, vi } from 'vitest';
import { endLease, faultyPool, testSchema } from '../test/database.js';
import { BudgetExceededError, postgresBudget } from './budget.js';

describe('postgresBudget', () => {
  it.each([NaN, Infinity, -1, '2'])('ends a turn whose cost is %s, and counts what was reserved', async (cost) => {
    const budget = postgresBudget(testSchema().connect(), {
      name: 'acme',
      limits: { cost: 10 },
      perCall: { cost: 3 },
      costOf: () => cost as number,
    });
    const agent = harness({ model: scriptedModel(['Hello.']) }).pipe(budget.operator());
    const { outcome, error } = await reply(agent.turn({ session: 'alice', input: 'Hi' }));
    expect([outcome, error?.message]).toEqual(['error', expect.stringContaining('"costOf" must return')]);
    // A turn that fails does not wait for the database.
    await vi.waitFor(async () => expect((await budget.state()).used).toMatchObject({ modelCalls: 1, cost: 3 }));
  });

  it('counts the reserved cost of calls without another one', async () => {
    const database = testSchema().connect();
    const budget = postgresBudget(database, { name: 'acme', limits: { cost: 5 }, perCall: { cost: 3 } });
    const agent = harness({ model: scriptedModel(['One.', 'Two.']) }).pipe(budget.operator());
    expect((await reply(agent.turn({ session: 'alice', input: 'Hi' }))).outcome).toBe('completed');
    expect((await reply(agent.turn({ session: 'alice', input: 'Hi' }))).outcome).toBe('budget-exceeded');
  });

  it('creates no operator whose limit of the cost would never apply', () => {
    const budget = postgresBudget(testSchema().connect(), { name: 'acme', limits: { cost: 5 } });
    expect(() => budget.operator()).toThrow('"costOf" is required for a limit of the cost');
  });

  it('rejects invalid amounts, and keeps the reservation', async () => {
    const budget = postgresBudget(testSchema().connect(), { name: 'acme', limits: { tokens: 100 } });
    const reservation = await budget.reserve({ tokens: 60 });
    await expect(reservation.settle({ tokens: NaN })).rejects.toThrow('settle(): "tokens" must be a number');
    expect((await budget.state()).reserved).toEqual({ tokens: 60 });
    await reservation.settle({ tokens: 10 });
    expect((await budget.state()).used).toEqual({ tokens: 10 });
  });

  it('grants no more than its limits to processes that reserve at once', async () => {
    const schema = testSchema();
    const budgets = Array.from({ length: 3 }, () =>
      postgresBudget(schema.connect(), { name: 'acme', limits: { tokens: 1000, cost: 0.7 } }),
    );
    const asked = await Promise.allSettled(
      Array.from({ length: 60 }, async (_, index) => budgets[index % 3]?.reserve({ tokens: 30, cost: 0.1 })),
    );
    const granted = asked.flatMap((each) => (each.status === 'fulfilled' && each.value ? [each.value] : []));
    expect(granted).toHaveLength(7);
    for (const each of asked) if (each.status === 'rejected') expect(each.reason).toMatchObject({ limit: 'cost' });
    for (const reservation of granted) await reservation.settle({ tokens: 10, cost: 0.01 });
    await granted[0]?.settle({ tokens: 10 });
    expect(await budgets[0]?.state()).toEqual({ used: { tokens: 70, cost: 0.07 }, reserved: { tokens: 0, cost: 0 } });
  });

  it('counts reservations of a dead process as used', async () => {
    const schema = testSchema();
    const dead = schema.connect();
    const options = { name: 'acme', limits: { tokens: 100 } };
    const lost = await postgresBudget(dead, options).reserve({ tokens: 60 });
    const budget = postgresBudget(schema.connect(), options);
    await expect(budget.reserve({ tokens: 60 })).rejects.toBeInstanceOf(BudgetExceededError);
    await endLease(dead);
    await (await budget.reserve({ tokens: 40 })).settle({ tokens: 40 });
    await lost.settle({ tokens: 5 });
    expect(await budget.state()).toEqual({ used: { tokens: 100 }, reserved: { tokens: 0 } });
  });

  it('ends reservations after an outage in which they were neither granted nor settled', async () => {
    const schema = testSchema();
    const { pool, faults } = faultyPool(schema);
    const database = schema.connect({ pool, leaseMs: 1_500, retryMs: 0 });
    const budget = postgresBudget(database, { name: 'acme', limits: { tokens: 100 } });
    const reservation = await budget.reserve({ tokens: 30 });
    faults.after = (sql) => sql.includes('budget_reserve');
    faults.before = (sql) => sql.includes('budget_settle');
    await expect(budget.reserve({ tokens: 70 })).rejects.toMatchObject({ code: 'database-unavailable' });
    await expect(reservation.settle({ tokens: 20 })).rejects.toMatchObject({ code: 'database-unavailable' });
    expect(await budget.state()).toEqual({ used: {}, reserved: { tokens: 100 } });
    await vi.waitFor(() => expect(schema.problems).not.toEqual([]), { timeout: 10_000 });
    faults.before = () => false;
    await vi.waitFor(
      async () => expect(await budget.state()).toEqual({ used: { tokens: 20 }, reserved: { tokens: 0 } }),
      { timeout: 10_000 },
    );
  });

  it('refuses reservations while it is cut off', async () => {
    const budget = postgresBudget(testSchema().connect(), { name: 'acme', limits: { modelCalls: 5 } });
    await budget.cutOff('Stopped by\0the operator.');
    await expect(budget.reserve({ modelCalls: 1 })).rejects.toThrow('Stopped by\uFFFDthe operator.');
    await budget.cutOff(undefined);
    await (await budget.reserve({ modelCalls: 1 })).settle({ modelCalls: 1 });
  });

  it('ends a turn whose next call it does not cover', async () => {
    const usage = { input: 60, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0 };
    const budget = postgresBudget(testSchema().connect(), {
      name: 'acme',
      limits: { tokens: 150 },
      perCall: { tokens: 90 },
    });
    const model = scriptedModel([
      { ...response('One.'), usage },
      { ...response('Two.'), usage },
    ]);
    const agent = harness({ model }).pipe(budget.operator());
    expect(await reply(agent.turn({ session: 'a', input: 'Hi' }))).toMatchObject({ outcome: 'completed' });
    expect(await reply(agent.turn({ session: 'b', input: 'Hi' }))).toMatchObject({
      outcome: 'budget-exceeded',
      error: { code: 'budget-exceeded' },
    });
    expect((await budget.state()).used).toMatchObject({ tokens: 70 });
  });
});
