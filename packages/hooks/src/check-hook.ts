import { TurnError } from '@h/turn';
import type { Hook, HookPoint, HookSource } from './hook.js';
import { aFunction, aNumberFrom, aText, checkOptions, either, objectOf, oneOf, show, type OptionCheck } from './option-check.js';

/** All points, gates first. */
export const hookPoints = [
  'beforeTurn',
  'beforeSteering',
  'beforeReply',
  'beforeModel',
  'beforeTool',
  'afterTool',
  'beforeEnd',
  'afterReply',
  'onError',
  'onCompaction',
  'onSteering',
  'onApproval',
  'onDecision',
] as const satisfies readonly HookPoint[];

const forEachPoint = (check: OptionCheck): OptionCheck => objectOf(Object.fromEntries(hookPoints.map((point) => [point, check])));
const failure = oneOf('closed', 'open');
const aNumber: OptionCheck = { accepts: (value) => typeof value === 'number' && !Number.isNaN(value), takes: 'a number' };

const parts: Readonly<Record<string, OptionCheck>> = {
  name: aText,
  priority: aNumber,
  timeoutMs: either(aNumberFrom(0), forEachPoint(aNumberFrom(0))),
  failure: either(failure, forEachPoint(failure)),
  onReplay: aFunction,
  ...Object.fromEntries(hookPoints.map((point) => [point, aFunction])),
};

/** Refuses a hook with parts that mean nothing: a misspelt gate guards nothing. @throws TurnError `invalid-option` */
export const checkHook = (hook: unknown): void => {
  const name = (hook as Partial<Hook> | null | undefined)?.name;
  checkOptions(typeof name === 'string' ? `The hook ${show(name)}` : 'A hook', hook, parts, ['name']);
};

/** Refuses what is neither a hook nor makes one. @throws TurnError `invalid-option` */
export const checkSources = (owner: string, sources: readonly HookSource[]): void => {
  if (!Array.isArray(sources)) throw new TurnError('invalid-option', `${owner} takes a list of hooks; it was given ${show(sources)}.`);
  for (const source of sources as readonly HookSource[]) if (typeof source !== 'function') checkHook(source);
};

/**
 * The hooks of one turn, highest priority first.
 *
 * One that cannot be made stands for a rule that nobody knows: its turn is refused.
 */
export const hooksOfTurn = (sources: readonly HookSource[]): readonly Hook[] =>
  sources.map((source, index) => (typeof source === 'function' ? made(source, index) : source)).toSorted((left, right) => (right.priority ?? 0) - (left.priority ?? 0));

const made = (source: () => Hook, index: number): Hook => {
  try {
    const hook = source();
    checkHook(hook);
    return hook;
  } catch (error) {
    const fail = (): never => {
      throw error;
    };
    return { name: source.name === '' ? `hook ${index + 1}` : source.name, priority: Infinity, failure: 'closed', beforeTurn: fail };
  }
};
