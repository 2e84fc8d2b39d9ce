import { TurnError } from '@h/turn';
import {
  aFlag,
  aFunction,
  anObject,
  aText,
  checkOptions,
  either,
  numberFrom,
  objectOf,
  objectWith,
  oneOf,
  recordOf,
  required,
  wholeFrom,
  type OptionChecks,
} from '@h/turn/options';
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
  description: required(aText),
  create: required(aFunction),
  policy: anObject,
  timeoutMs: numberFrom(1, Infinity),
  isolate: aFlag,
  priority: oneOf('foreground', 'normal', 'background'),
};

const limitChecks: OptionChecks<SubagentLimits> = {
  depth: wholeFrom(0, Infinity),
  children: wholeFrom(1, Infinity),
  tree: wholeFrom(1, Infinity),
  concurrency: wholeFrom(1, Infinity),
  timeoutMs: numberFrom(1, Infinity),
  graceMs: numberFrom(0, Infinity),
  waitMs: numberFrom(1, Infinity),
  resultChars: wholeFrom(100, Infinity),
  unread: wholeFrom(0, Infinity),
  storeMs: numberFrom(1, Infinity),
};

const keepChecks: OptionChecks<KeepSessions> = {
  latest: required(wholeFrom(0)),
  store: required(objectWith('list', 'delete')),
};

const checks: OptionChecks<SubagentsOptions> = {
  agents: required(recordOf(objectOf(kindChecks))),
  limits: objectOf(limitChecks),
  policy: either(anObject, aFunction),
  aliases: recordOf(aText),
  reachOf: aFunction,
  budget: either(objectWith('share', 'charges'), aFunction),
  lanes: objectWith('run', 'yieldWhile'),
  store: objectWith('save', 'delete', 'list'),
  keepSessions: objectOf(keepChecks),
  artifacts: objectWith('put'),
  wrap: aFunction,
  isolate: aFunction,
  onApproval: aFunction,
  parentEnd: oneOf('wait', 'detach', 'cancel'),
  wake: aFunction,
  onForgotten: aFunction,
  onEvent: aFunction,
  scheduler: objectWith('schedule', 'now'),
  newId: aFunction,
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
