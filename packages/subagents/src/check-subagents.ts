import { TurnError } from '@h/turn';
import type { SubagentsOptions } from './options.js';
import { checkOptions, either, exactly, isBoolean, isFunction, isObject, isText, numberFrom, objectWith, wholeFrom } from './options-check.js';
import { checkPolicy, type AgentPolicy } from './policy.js';

/** Refuses options that {@link subagents} does not know, or that make no sense together. */
export const checkSubagents = (options: SubagentsOptions): void => {
  checkOptions('subagents()', options, {
    agents: isObject,
    limits: isObject,
    policy: either(isObject, isFunction),
    aliases: isObject,
    reachOf: isFunction,
    budget: either(objectWith('share'), isFunction),
    lanes: objectWith('run', 'yieldWhile'),
    store: objectWith('save', 'delete', 'list'),
    artifacts: objectWith('put'),
    wrap: isFunction,
    isolate: isFunction,
    onApproval: isFunction,
    parentEnd: exactly('wait', 'detach', 'cancel'),
    wake: isFunction,
    onForgotten: isFunction,
    onEvent: isFunction,
    scheduler: objectWith('schedule', 'now'),
    newId: isFunction,
  });
  checkOptions('The limits of subagents()', options.limits ?? {}, limits);
  checkOptions('The aliases of subagents()', options.aliases ?? {}, Object.fromEntries(Object.keys(options.aliases ?? {}).map((name) => [name, isText])));
  if (typeof options.policy === 'object') checkPolicy(options.policy);
  const kinds = Object.entries(options.agents ?? {});
  if (kinds.length === 0) throw new TurnError('invalid-option', 'subagents() takes at least one kind of agent in "agents"; it was given none.');
  const isCounted = options.budget !== undefined;
  if (!isCounted && typeof options.policy === 'object' && Object.keys(options.policy.budget ?? {}).length > 0) throw uncounted('The policy of subagents()', options.policy);
  for (const [name, kind] of kinds) {
    checkOptions(`The agent ${JSON.stringify(name)}`, kind, { description: isText, create: isFunction, policy: isObject, timeoutMs: numberFrom(1), isolate: isBoolean, priority: exactly('foreground', 'normal', 'background') });
    if (typeof kind.create !== 'function' || !isText.accepts(kind.description)) {
      throw new TurnError('invalid-option', `The agent ${JSON.stringify(name)} takes a description and a function create().`);
    }
    checkPolicy(kind.policy ?? {});
    if (!isCounted && Object.keys(kind.policy?.budget ?? {}).length > 0) throw uncounted(`The agent ${JSON.stringify(name)}`, kind.policy);
    if (kind.isolate === true && !options.isolate) {
      throw new TurnError('invalid-option', `The agent ${JSON.stringify(name)} works in a copy, but subagents() was given no option "isolate" that makes one.`);
    }
  }
};

/** A limit that nobody counts would hold nothing. */
const uncounted = (owner: string, { budget = {} }: Partial<AgentPolicy> = {}): TurnError =>
  new TurnError('invalid-option', `${owner} limits ${Object.keys(budget).join(', ')}, but subagents() was given no option "budget" that counts it.`);

const limits = {
  depth: wholeFrom(0),
  children: wholeFrom(1),
  tree: wholeFrom(1),
  concurrency: wholeFrom(1),
  timeoutMs: numberFrom(1),
  graceMs: numberFrom(0),
  waitMs: numberFrom(1),
  resultChars: wholeFrom(100),
  unread: wholeFrom(0),
  storeMs: numberFrom(1),
};
