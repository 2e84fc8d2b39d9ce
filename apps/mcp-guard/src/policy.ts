import { posix } from 'node:path';
import type { Hook } from '@h/hooks';
import { destructiveCommands } from '@h/hooks/commands';
import { matchesAny } from '@h/wildcard';
import type { JSONObject, JSONValue, ToolCall } from '@h/turn';
import type { Config, PolicyRule } from './config-schema.js';

/**
 * The names of a tool in rules: that for clients, and `<server>__<tool>`. They differ if there is one server, whose rules
 * must hold under both, so that a second server turns none of them off.
 */
export type NamesOf = (tool: string) => readonly string[];

/** The hooks that decide about calls: the rules of the configuration, and the judge of command lines. */
export const policyHooks = ({ rules, otherwise, commands }: Config['policy'], namesOf: NamesOf): readonly Hook[] => {
  const hooks: Hook[] = rules.length === 0 && otherwise === 'allow' ? [] : [ruleHook(rules, otherwise, namesOf)];
  if (commands === false) return hooks;
  const commandOf = commands === true ? undefined : (call: ToolCall) => commandIn(commands, call, namesOf);
  hooks.push(destructiveCommands({ ...(commandOf !== undefined && { commandOf }) }));
  return hooks;
};

const ruleHook = (rules: readonly PolicyRule[], otherwise: PolicyRule['decision'], namesOf: NamesOf): Hook => ({
  name: 'policy',
  beforeTool: ({ call }) => {
    const rule = rules.find((candidate) => isMatching(candidate, call, namesOf));
    const decision = rule?.decision ?? otherwise;
    const reason = rule?.reason ?? `The policy of the guard says "${decision}" for ${call.name}.`;
    return decision === 'allow' ? { decision } : { decision, reason };
  },
});

/** Returns whether a rule is about this call. */
export const isMatching = (
  { tool, input = {}, decision }: PolicyRule,
  call: Pick<ToolCall, 'name' | 'input'>,
  namesOf: NamesOf,
): boolean =>
  isNamed(tool, namesOf(call.name)) &&
  Object.entries(input).every(([name, pattern]) => isValueMatching(pattern, memberOf(call.input, name), decision));

/** Returns whether a pattern matches one of the names of a tool. */
export const isNamed = (pattern: string, names: readonly string[]): boolean =>
  names.some((name) => matchesAny([pattern], name));

/**
 * A path may be written with `.`, `..` and double slashes. A rule that allows matches only if every spelling does, any
 * other rule if one does.
 */
const isValueMatching = (pattern: string, value: JSONValue | undefined, decision: PolicyRule['decision']): boolean => {
  if (Array.isArray(value)) {
    const isItemMatching = (item: JSONValue): boolean => isValueMatching(pattern, item, decision);
    return decision === 'allow' ? value.length > 0 && value.every(isItemMatching) : value.some(isItemMatching);
  }
  if (value === undefined || value === null || typeof value === 'object') return false;
  const text = String(value);
  const spellings = [text, posix.normalize(text.replaceAll('\\', '/'))];
  const isSpellingMatching = (spelling: string): boolean => matchesAny([pattern], spelling);
  return decision === 'allow' ? spellings.every(isSpellingMatching) : spellings.some(isSpellingMatching);
};

/** Returns a member of the input; `a.b` is the member `b` of the member `a`. */
const memberOf = (input: unknown, path: string): JSONValue | undefined => {
  let value: unknown = input;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JSONObject)[name];
  }
  return value as JSONValue;
};

/** Returns the command line of a call, from the member that the configuration names for its tool. */
const commandIn = (
  commands: Readonly<Record<string, string>>,
  call: ToolCall,
  namesOf: NamesOf,
): string | undefined => {
  const names = namesOf(call.name);
  const member = Object.entries(commands).find(([tool]) => isNamed(tool, names))?.[1];
  if (member === undefined) return undefined;
  const value = memberOf(call.input, member);
  if (Array.isArray(value)) return value.map((word) => quoted(String(word))).join(' ');
  return typeof value === 'string' ? value : undefined;
};

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
