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
  InvalidOptionError,
  type OptionChecks,
} from '@h/options';
import type { KeepSessions } from './team/ended-sessions.js';
import type { AgentKind } from './child/kind.js';
import type { SubagentLimits } from './limits.js';
import type { SubagentsOptions } from './options.js';
import { checkPolicy, checkPolicyPart, type AgentPolicy } from './rights/policy.js';

/** Rejects options of {@link subagents} that are unknown, invalid or contradictory. */
export const checkSubagents = (options: SubagentsOptions): void => {
  checkOptions('subagents()', options, checks);
  const { agents, budget, policy, isolate } = options;
  if (typeof policy === 'object') {
    checkPolicy(policy);
    if (budget === undefined) refuseAmounts('policy', policy);
  }
  const kinds = Object.entries(agents);
  if (kinds.length === 0) {
    throw invalid('agents', 'subagents(): "agents" must have at least one kind of agent; received {}.');
  }
  for (const [name, kind] of kinds) {
    checkPolicyPart(kind.policy ?? {});
    if (budget === undefined) refuseAmounts(`agents.${name}.policy`, kind.policy);
    if (kind.isolate === true && !isolate) {
      throw invalid(
        'isolate',
        `subagents(): "agents.${name}.isolate" needs the option "isolate", which creates the copy.`,
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

/** Rejects amounts without a budget, which would count them. */
const refuseAmounts = (owner: string, { budget = {} }: Partial<AgentPolicy> = {}): void => {
  const [name] = Object.keys(budget);
  if (name === undefined) return;
  throw invalid(
    `${owner}.budget`,
    `subagents(): "${owner}.budget.${name}" needs the option "budget", which counts it.`,
  );
};

const invalid = (option: string, message: string): InvalidOptionError =>
  new InvalidOptionError({ owner: 'subagents()', option, message });
