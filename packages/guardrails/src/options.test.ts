import { describe, expect, it } from 'vitest';
import { createBudget } from './budget.js';
import { guardrails } from './guardrails.js';

describe('the options of guardrails', () => {
  it.each<readonly [unknown, string]>([
    [
      { maxStep: 3 },
      'guardrails() has no option "maxStep" (it was given 3); did you mean "maxSteps"? It knows maxSteps, maxToolCalls, ',
    ],
    [{ maxSteps: -1 }, 'guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given -1.'],
    [{ maxSteps: 1.5 }, 'guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given 1.5.'],
    [{ maxSteps: Number.NaN }, 'guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given NaN.'],
    [{ maxSteps: '5' }, 'guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given "5".'],
    [
      { maxCost: -0.5, costOf: () => 1 },
      'guardrails() takes a number from 0 or Infinity as "maxCost"; it was given -0.5.',
    ],
    [{ maxCost: 5 }, 'guardrails() needs "costOf" to keep "maxCost"; without it no cost is known.'],
    [{ session: { maxCost: 5 } }, 'guardrails() needs "costOf" to keep "maxCost"; without it no cost is known.'],
    [
      { budget: createBudget({ maxCost: 5 }).share() },
      'guardrails() needs "costOf" to keep "maxCost"; without it no cost is known.',
    ],
    [{ session: { maxTurns: 5 } }, 'guardrails() has no option "session.maxTurns" (it was given 5); it knows maxSteps'],
    [{ session: 5 }, 'as "session"; it was given 5.'],
    [{ budget: {} }, 'guardrails() takes a budget made by createBudget() or a function as "budget"; it was given {}.'],
    [{ unknownCost: 'warn' }, 'guardrails() takes "stop" or "ignore" as "unknownCost"; it was given "warn".'],
    [{ reserveCostFraction: 2 }, 'guardrails() takes a number from 0 to 1 as "reserveCostFraction"; it was given 2.'],
    [
      { wrapUp: true },
      'guardrails() takes false or an object with tokens, nearText, lastText as "wrapUp"; it was given true.',
    ],
    [
      { wrapUp: { text: 'x' } },
      'guardrails() has no option "wrapUp.text" (it was given "x"); did you mean "nearText"? It knows tokens, nearText, lastText.',
    ],
    [
      { maxTokensRecoveries: Infinity },
      'guardrails() takes a whole number from 0 as "maxTokensRecoveries"; it was given Infinity.',
    ],
    [
      { extension: { perCompletion: 1, limits: ['maxConsecutiveExceptions'] } },
      'guardrails() takes "maxSteps" or "maxToolCalls"',
    ],
    [
      { extension: { perCompletion: 1 } },
      'guardrails() needs "extension.limits": a list of which each is "maxSteps" or',
    ],
    [{ extension: { limits: [] } }, 'guardrails() needs "extension.perCompletion": a number from 0.'],
    [
      { extension: { perCompletion: -1, limits: [] } },
      'guardrails() takes a number from 0 as "extension.perCompletion"; it was given -1.',
    ],
    [
      { extension: { perCompletion: 1, limits: [], maxFactor: 0.5 } },
      'guardrails() takes a number from 1 as "extension.maxFactor"; it was given 0.5.',
    ],
    [
      { session: { maxTokens: 9, extension: { perCompletion: 1, limits: ['maxTokens'] } } },
      'guardrails() raises "maxTokens" in proportion to "maxSteps" by its "session.extension"; give that a limit above 0, or leave "maxTokens" out.',
    ],
    [null, 'guardrails() takes an object of options; it was given null.'],
    [7, 'guardrails() takes an object of options; it was given 7.'],
  ])('refuses %j', (options, message) => {
    expect(() => guardrails(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining(message) as string }),
    );
  });

  it('may be undefined, each of them', () => {
    const names = [
      'maxSteps',
      'maxCost',
      'session',
      'budget',
      'costOf',
      'wrapUp',
      'extension',
      'maxTokensRecoveries',
      'estimateTokens',
      'isException',
    ];
    expect(() => guardrails(Object.fromEntries(names.map((name) => [name, undefined])))).not.toThrow();
  });

  it('may extend tokens in a turn, whose steps are limited by default', () => {
    expect(() => guardrails({ maxTokens: 9, extension: { perCompletion: 1, limits: ['maxTokens'] } })).not.toThrow();
  });
});

describe('the options of createBudget', () => {
  it.each<readonly [unknown, string]>([
    [
      { maxStep: 3 },
      'createBudget() has no option "maxStep" (it was given 3); did you mean "maxSteps"? It knows maxSteps, ',
    ],
    [{ maxTokens: -3 }, 'createBudget() takes a whole number from 0 or Infinity as "maxTokens"; it was given -3.'],
    [{ name: '' }, 'createBudget() takes a text that is not empty as "name"; it was given "".'],
  ])('refuses %j', (options, message) => {
    expect(() => createBudget(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining(message) as string }),
    );
  });

  it('are those of a share, but for what it goes on from', () => {
    expect(() => createBudget().share({ restore: {} } as never)).toThrow('share() has no option "restore"');
  });
});
