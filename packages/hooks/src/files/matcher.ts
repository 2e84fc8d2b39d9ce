import { coversCall } from '../approvals/pattern.js';

const plain = /^[\w\-, |]*$/;

/**
 * Whether a matcher is for one of these names: everything when it is empty or `*`, a name or a list of names where it
 * has nothing but letters, digits, `_`, `-`, spaces, commas and `|`, else a regular expression that is searched for. A
 * broken expression is taken as a name.
 */
export const isMatch = (matcher: string, names: readonly string[]): boolean => {
  const wanted = matcher.trim();
  if (wanted === '' || wanted === '*') return true;
  if (plain.test(wanted)) {
    const list = wanted.split(/[|,]/).map((name) => name.trim());
    return names.some((name) => list.includes(name));
  }
  const pattern = expressionOf(wanted);
  return names.some((name) => pattern?.test(name) ?? name === wanted);
};

const expressionOf = (text: string): RegExp | undefined => {
  try {
    return new RegExp(text);
  } catch {
    return undefined;
  }
};

/** Whether a matcher is plain, so that holding it against a name runs nothing that its author has made up. */
export const isPlain = (matcher: string): boolean => plain.test(matcher.trim()) || matcher.trim() === '*';

/** A command in which a shell may run more than its first word says: a pattern cannot tell what it does. */
const isCompound = (input: unknown): boolean => {
  const command: unknown = (input as Readonly<Record<string, unknown>> | null)?.['command'];
  return typeof command === 'string' && /[;&|<>$`(){}\n]/.test(command);
};

/**
 * Whether the condition `if` of a hook is met. Where a pattern cannot tell, the hook is run: it can look for itself.
 */
export const isConditionMet = (condition: string | undefined, names: readonly string[], input: unknown): boolean => {
  if (condition === undefined) return true;
  const [, tool = condition, pattern] = /^([^()]+)\((.*)\)$/s.exec(condition.trim()) ?? [];
  if (!names.includes(tool.trim())) return false;
  return pattern === undefined || isCompound(input) || coversCall(pattern.replace(/:\*$/, ' *'), input);
};
