import { coversCall } from '../approvals/pattern.js';

const plain = /^[\w\-, |]*$/;

/**
 * Returns whether a matcher matches one of these names. An empty matcher and `*` match every name. A matcher of
 * letters, digits, `_`, `-`, spaces, commas and `|` is a list of names. Any other matcher is an unanchored regular
 * expression, or a name if the expression is invalid.
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

/** Returns whether a matcher contains no regular expression, so that an untrusted matcher is safe to evaluate. */
export const isPlain = (matcher: string): boolean => plain.test(matcher.trim()) || matcher.trim() === '*';

/** Returns whether a command may run other commands, which a pattern cannot judge. */
const isCompound = (input: unknown): boolean => {
  const command: unknown = (input as Readonly<Record<string, unknown>> | null)?.['command'];
  return typeof command === 'string' && /[;&|<>$`(){}\n]/.test(command);
};

/**
 * Returns whether the condition `if` of a hook is met. If a pattern cannot judge the command, the hook runs.
 */
export const isConditionMet = (condition: string | undefined, names: readonly string[], input: unknown): boolean => {
  if (condition === undefined) return true;
  const [, tool = condition, pattern] = /^([^()]+)\((.*)\)$/s.exec(condition.trim()) ?? [];
  if (!names.includes(tool.trim())) return false;
  return pattern === undefined || isCompound(input) || coversCall(pattern.replace(/:\*$/, ' *'), input);
};
