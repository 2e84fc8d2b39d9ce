import type { ChildRecord } from '../child/record.js';

/** Builds the record of a sub-agent that runs. Its task contains a lone surrogate, which a store must preserve. */
export const childRecord = (id: string, more: Partial<ChildRecord> = {}): ChildRecord => ({
  v: 1,
  id,
  agent: 'worker',
  task: 'Look \ud800',
  session: `subagent-${id}`,
  turn: `t-${id}`,
  parent: 'boss',
  root: 'boss',
  depth: 1,
  receiver: 'parent',
  spawnedAt: 1,
  ...more,
});
