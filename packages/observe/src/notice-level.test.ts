import { expect, it } from 'vitest';
import { noticeLevel, subsystemOf } from './notice-level.js';

it.each([
  ['compaction.started', 'debug', 'compaction'],
  ['compaction.done', 'info', 'compaction'],
  ['compaction.failed', 'warn', 'compaction'],
  ['cache.broken', 'warn', 'cache'],
  ['cache.checked', 'debug', 'cache'],
  ['loop.warning', 'warn', 'loop'],
  ['failover.switched', 'info', 'failover'],
  ['failover.exhausted', 'error', 'failover'],
  ['budget.near', 'warn', 'budget'],
  ['budget.cost-unknown', 'warn', 'budget'],
  ['security.suspicious', 'warn', 'security'],
  ['approval.store-failed', 'warn', 'approval'],
  ['git.commit', 'info', 'git'],
  ['odd', 'info', 'odd'],
])('maps %s to the level %s of %s', (type, level, subsystem) => {
  expect([noticeLevel(type), subsystemOf(type)]).toEqual([level, subsystem]);
});

it('takes linear time for long names', () => {
  const work = (count: number): number => {
    const begin = process.cpuUsage();
    noticeLevel(`${'.failed-'.repeat(count)}x`);
    return process.cpuUsage(begin).user;
  };
  work(10_000);
  // The name is 16 times as long: quadratic work would take 256 times as long.
  expect(work(160_000) / Math.max(2_000, work(10_000))).toBeLessThan(100);
});
