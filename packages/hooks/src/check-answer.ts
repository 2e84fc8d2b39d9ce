import { isMessage, isToolResultOutput } from '@h/turn';
import { showValue } from '@h/options';
import type { HookPoint } from './hook.js';

const isText = (value: unknown): boolean => typeof value === 'string';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isAnything = (): boolean => true;

const isListWith = (key: string, value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => isObject(item) && isText((item as Record<string, unknown>)[key]));

const requestParts: Readonly<Record<string, (value: unknown) => boolean>> = {
  model: isText,
  settings: isObject,
  system: (value) => isListWith('text', value),
  tail: (value) => Array.isArray(value) && value.every(isMessage),
  tools: (value) => isListWith('name', value),
};

const members: Readonly<Record<string, (value: unknown) => boolean>> = {
  reason: isText,
  reply: isText,
  context: isText,
  patterns: (value) => Array.isArray(value) && value.every(isText),
  input: isAnything,
  request: (value) =>
    isObject(value) &&
    Object.entries(value as object).every(
      ([part, own]) => own === undefined || (requestParts[part] ?? isAnything)(own),
    ),
  output: (value) => isText(value) || isToolResultOutput(value),
  proceed: (value) => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isMessage)),
};

interface AnswerShape {
  readonly keys: readonly string[];
  readonly decisions: readonly string[];
}

const nothing: AnswerShape = { keys: [], decisions: [] };

const shapes: Readonly<Record<HookPoint, AnswerShape>> = {
  beforeTurn: { keys: ['reason', 'reply', 'context'], decisions: ['deny'] },
  beforeSteering: { keys: ['reason', 'context'], decisions: ['deny'] },
  beforeReply: { keys: ['reason', 'reply'], decisions: ['deny'] },
  beforeModel: { keys: ['reason', 'reply', 'context', 'request'], decisions: ['deny'] },
  beforeTool: { keys: ['reason', 'patterns', 'input', 'context'], decisions: ['allow', 'ask', 'deny'] },
  afterTool: { keys: ['context', 'output'], decisions: [] },
  beforeEnd: { keys: ['proceed', 'reason'], decisions: [] },
  afterReply: nothing,
  onError: nothing,
  onCompaction: nothing,
  onSteering: nothing,
  onApproval: nothing,
  onDecision: nothing,
};

/** Reads each member of an answer once: an accessor may throw, or return another value to the next reader. */
export const answerAt = (point: HookPoint, answer: unknown): unknown => {
  if (shapes[point] === nothing) return undefined;
  if (!isObject(answer)) return answer;
  const given = answer as Readonly<Record<string, unknown>>;
  const inherited = ['decision', ...shapes[point].keys].filter((key) => key in given);
  return Object.fromEntries([...new Set([...Object.keys(given), ...inherited])].map((key) => [key, given[key]]));
};

/**
 * Returns why an answer is invalid at this point; `undefined` for a valid answer. Ignores the answers of observers.
 */
export const problemOf = (point: HookPoint, answer: unknown): string | undefined => {
  if (answer === undefined || answer === null || shapes[point] === nothing) return undefined;
  const { keys, decisions } = shapes[point];
  if (!isObject(answer)) return `It returned ${showValue(answer)}. Return an object or undefined.`;
  const given = answer as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (key === 'decision') {
      if (!decisions.includes(value as string)) {
        return `It returned the decision ${showValue(value)}. Decisions at ${point}: ${list(decisions)}.`;
      }
    } else if (!keys.includes(key)) {
      return `It returned the unknown member ${showValue(key)}. Members at ${point}: ${list(keys)}.`;
    } else if (members[key]?.(value) !== true) {
      return `It returned ${showValue(value)} as ${showValue(key)}, which is not valid.`;
    }
  }
  const needsReason = given['decision'] === 'deny' || given['decision'] === 'ask';
  if (needsReason && given['reason'] === undefined) {
    return `It returned the decision ${showValue(given['decision'])} without a reason.`;
  }
  return point === 'beforeEnd' && given['proceed'] === undefined && given['reason'] !== undefined
    ? 'It returned a reason without "proceed".'
    : undefined;
};

const list = (words: readonly string[]): string => (words.length === 0 ? 'none' : words.join(', '));
