import {
  anyFunction,
  anyObject,
  anyArray,
  nonEmptyString,
  checkOptions,
  checkValue,
  anyOf,
  numberFrom,
  objectOf,
  oneOf,
  required,
  type OptionCheck,
} from '@h/options';
import type { Hook, HookPoint, HookSource } from './hook.js';

/** All hook points, gates first. */
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

const forEachPoint = (check: OptionCheck): OptionCheck =>
  objectOf(Object.fromEntries(hookPoints.map((point) => [point, check])));
const failure = oneOf('closed', 'open');
const aNumber: OptionCheck = {
  accepts: (value) => typeof value === 'number' && !Number.isNaN(value),
  expected: 'a number',
};

const parts: Readonly<Record<string, OptionCheck>> = {
  name: required(nonEmptyString),
  priority: aNumber,
  timeoutMs: anyOf(numberFrom(0, Infinity), forEachPoint(numberFrom(0, Infinity))),
  failure: anyOf(failure, forEachPoint(failure)),
  onReplay: anyFunction,
  ...Object.fromEntries(hookPoints.map((point) => [point, anyFunction])),
};

/**
 * Rejects a hook with unknown members, such as a misspelled gate, which would never run. @throws InvalidOptionError
 * `invalid-option`
 */
const checkHook = (hook: unknown): void => {
  const name = (hook as Partial<Hook> | null | undefined)?.name;
  checkOptions(typeof name === 'string' ? `The hook ${JSON.stringify(name)}` : 'A hook', hook, parts);
};

/** Rejects values that are neither hooks nor functions. @throws InvalidOptionError `invalid-option` */
export const checkSources = (owner: string, sources: readonly HookSource[]): void => {
  checkValue(owner, 'sources', sources, { ...anyArray, expected: 'a list of hooks' });
  for (const source of sources) if (typeof source !== 'function') checkHook(source);
};

/**
 * The hooks of one turn, highest priority first.
 *
 * A function that fails to create its hook blocks the turn, because the rules of the hook are unknown.
 */
export const hooksOfTurn = (sources: readonly HookSource[]): readonly Hook[] =>
  sources
    .map((source, index) => (typeof source === 'function' ? made(source, index) : source))
    .toSorted((left, right) => (right.priority ?? 0) - (left.priority ?? 0));

const made = (source: () => Hook, index: number): Hook => {
  try {
    const hook: unknown = source();
    checkValue('hooks()', `sources[${index}]`, hook, {
      ...anyObject,
      expected: 'a hook, or a function that returns a hook',
    });
    checkHook(hook);
    return hook as Hook;
  } catch (error) {
    const fail = (): never => {
      throw error;
    };
    return {
      name: source.name === '' ? `number ${index + 1}` : source.name,
      priority: Infinity,
      failure: 'closed',
      beforeTurn: fail,
    };
  }
};
