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
])('takes %s for %s of %s', (type, level, subsystem) => {
  expect([noticeLevel(type), subsystemOf(type)]).toEqual([level, subsystem]);
});

it('is not slowed down by long names', () => {
  const begin = performance.now();
  noticeLevel(`${'.failed-'.repeat(200_000)}x`);
  expect(performance.now() - begin).toBeLessThan(500);
});
