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
  const begin = performance.now();
  noticeLevel(`${'.failed-'.repeat(200_000)}x`);
  expect(performance.now() - begin).toBeLessThan(500);
});
