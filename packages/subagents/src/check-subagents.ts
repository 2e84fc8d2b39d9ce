import { TurnError } from '@h/turn';
import {
  anyBoolean,
  anyFunction,
  anyObject,
  nonEmptyString,
  checkOptions,
  anyOf,
  numberFrom,
  objectOf,
  objectWithMethods,
  oneOf,
  recordOf,
  required,
  integerFrom,
  type OptionChecks,
} from '@h/options';
import type { KeepSessions } from './ended-sessions.js';
import type { AgentKind } from './kind.js';
import type { SubagentLimits } from './limits.js';
import type { SubagentsOptions } from './options.js';
import { checkPolicy, type AgentPolicy } from './policy.js';

/** Refuses options that {@link subagents} does not know, or that make no sense together. */
export const checkSubagents = (options: SubagentsOptions): void => {
  checkOptions('subagents()', options, checks);
  const { agents, budget, policy, isolate } = options;
  if (typeof policy === 'object') {
    checkPolicy(policy);
    if (budget === undefined) refuseAmounts('The policy of subagents()', policy);
  }
  const kinds = Object.entries(agents);
  if (kinds.length === 0) {
    throw new TurnError(
      'invalid-option',
      'subagents() takes at least one kind of agent in "agents"; it was given none.',
    );
  }
  for (const [name, kind] of kinds) {
    checkPolicy(kind.policy ?? {});
    if (budget === undefined) refuseAmounts(`The agent ${JSON.stringify(name)}`, kind.policy);
    if (kind.isolate === true && !isolate) {
      throw new TurnError(
        'invalid-option',
        `The agent ${JSON.stringify(name)} works in a copy, but subagents() was given no option "isolate" that makes one.`,
      );
    }
  }
};

const kindChecks: OptionChecks<AgentKind> = {
  description: required(nonEmptyString),
  create: required(anyFunction),
  policy: anyObject,
  timeoutMs: numberFrom(1, Infinity),
  isolate: anyBoolean,
  priority: oneOf('foreground', 'normal', 'background'),
};

const limitChecks: OptionChecks<SubagentLimits> = {
  depth: integerFrom(0, Infinity),
  children: integerFrom(1, Infinity),
  tree: integerFrom(1, Infinity),
  concurrency: integerFrom(1, Infinity),
  timeoutMs: numberFrom(1, Infinity),
  graceMs: numberFrom(0, Infinity),
  waitMs: numberFrom(1, Infinity),
  resultChars: integerFrom(100, Infinity),
  unread: integerFrom(0, Infinity),
  storeMs: numberFrom(1, Infinity),
};

const keepChecks: OptionChecks<KeepSessions> = {
  latest: required(integerFrom(0)),
  store: required(objectWithMethods('list', 'delete')),
};

const checks: OptionChecks<SubagentsOptions> = {
  agents: required(recordOf(objectOf(kindChecks))),
  limits: objectOf(limitChecks),
  policy: anyOf(anyObject, anyFunction),
  aliases: recordOf(nonEmptyString),
  reachOf: anyFunction,
  budget: anyOf(objectWithMethods('share', 'charges'), anyFunction),
  lanes: objectWithMethods('run', 'yieldWhile'),
  store: objectWithMethods('save', 'delete', 'list'),
  keepSessions: objectOf(keepChecks),
  artifacts: objectWithMethods('put'),
  wrap: anyFunction,
  isolate: anyFunction,
  onApproval: anyFunction,
  parentEnd: oneOf('wait', 'detach', 'cancel'),
  wake: anyFunction,
  onForgotten: anyFunction,
  onEvent: anyFunction,
  scheduler: objectWithMethods('schedule', 'now'),
  newId: anyFunction,
};

/** A limit that nobody counts would hold nothing. */
const refuseAmounts = (owner: string, { budget = {} }: Partial<AgentPolicy> = {}): void => {
  const amounts = Object.keys(budget);
  if (amounts.length === 0) return;
  throw new TurnError(
    'invalid-option',
    `${owner} limits ${amounts.join(', ')}, but subagents() was given no option "budget" that counts it.`,
  );
};
