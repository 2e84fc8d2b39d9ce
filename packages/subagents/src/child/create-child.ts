import type { TurnPriority } from '@h/turn';
import { deferred } from './deferred.js';
import { createMember, type Child, type Member } from '../team/family.js';
import type { Gate } from '../team/gate.js';
import type { SharedBudget } from './kind.js';
import type { AgentPolicy } from '../rights/policy.js';
import type { ChildRecord } from './record.js';
import { RunPlace } from './run-place.js';

/** The parts of a sub-agent. */
export interface ChildMakings {
  readonly record: ChildRecord;
  readonly policy: AgentPolicy;
  readonly budget?: SharedBudget | undefined;
  readonly priority?: TurnPriority | undefined;
  /** The gate at which it waits for a slot. */
  readonly gate: Gate;
}

/** Creates a sub-agent with a node in the tree. It has ended if its record has an end. */
export const createChild = (
  parent: Member,
  { record, policy, budget, priority = 'normal', gate }: ChildMakings,
): Child => {
  const node = createMember(record.session, parent);
  const abort = new AbortController();
  const ended: Child['ended'] = deferred();
  if (record.end) ended.resolve(record.end);
  const place = new RunPlace(gate, abort.signal);
  const child: Child = {
    record,
    node,
    parent,
    policy,
    budget,
    priority,
    abort,
    agent: undefined,
    deadlineAt: Infinity,
    isLate: false,
    place,
    end: record.end,
    delivery: 'waiting',
    ended,
    saving: Promise.resolve(),
  };
  node.child = child;
  return child;
};
