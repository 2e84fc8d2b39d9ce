import { describe, expect, it } from 'vitest';
import { createBudget } from './budget.js';
import { guardrails } from './guardrails.js';

describe('the options of guardrails', () => {
  it.each<readonly [unknown, string]>([
    [
      { maxStep: 3 },
      'guardrails(): unknown option "maxStep" (received 3). Did you mean "maxSteps"? Known options: maxSteps, maxToolCalls, ',
    ],
    [{ maxSteps: -1 }, 'guardrails(): "maxSteps" must be an integer from 0 or Infinity; received -1.'],
    [{ maxSteps: 1.5 }, 'guardrails(): "maxSteps" must be an integer from 0 or Infinity; received 1.5.'],
    [{ maxSteps: Number.NaN }, 'guardrails(): "maxSteps" must be an integer from 0 or Infinity; received NaN.'],
    [{ maxSteps: '5' }, 'guardrails(): "maxSteps" must be an integer from 0 or Infinity; received "5".'],
    [{ maxCost: -0.5, costOf: () => 1 }, 'guardrails(): "maxCost" must be a number from 0 or Infinity; received -0.5.'],
    [{ maxCost: 5 }, 'guardrails(): "maxCost" needs "costOf"; without it every cost is unknown.'],
    [{ session: { maxCost: 5 } }, 'guardrails(): "maxCost" needs "costOf"; without it every cost is unknown.'],
    [
      { budget: createBudget({ maxCost: 5 }).share() },
      'guardrails(): "maxCost" needs "costOf"; without it every cost is unknown.',
    ],
    [
      { session: { maxTurns: 5 } },
      'guardrails(): unknown option "session.maxTurns" (received 5). Known options: maxSteps',
    ],
    [{ session: 5 }, 'guardrails(): "session" must be an object with the keys maxSteps, '],
    [{ budget: {} }, 'guardrails(): "budget" must be a budget made by createBudget() or a function; received {}.'],
    [{ unknownCost: 'warn' }, 'guardrails(): "unknownCost" must be "stop" or "ignore"; received "warn".'],
    [{ reserveCostFraction: 2 }, 'guardrails(): "reserveCostFraction" must be a number from 0 to 1; received 2.'],
    [
      { wrapUp: true },
      'guardrails(): "wrapUp" must be false or an object with the keys tokens, nearText, lastText; received true.',
    ],
    [
      { wrapUp: { text: 'x' } },
      'guardrails(): unknown option "wrapUp.text" (received "x"). Did you mean "nearText"? Known options: tokens, nearText, lastText.',
    ],
    [
      { maxTokensRecoveries: Infinity },
      'guardrails(): "maxTokensRecoveries" must be an integer from 0; received Infinity.',
    ],
    [
      { extension: { perCompletion: 1, limits: ['maxConsecutiveExceptions'] } },
      'guardrails(): "extension.limits[0]" must be "maxSteps" or "maxToolCalls"',
    ],
    [
      { extension: { perCompletion: 1 } },
      'guardrails(): "extension.limits" is required; it must be an array in which each item is "maxSteps" or',
    ],
    [{ extension: { limits: [] } }, 'guardrails(): "extension.perCompletion" is required; it must be a number from 0.'],
    [
      { extension: { perCompletion: -1, limits: [] } },
      'guardrails(): "extension.perCompletion" must be a number from 0; received -1.',
    ],
    [
      { extension: { perCompletion: 1, limits: [], maxFactor: 0.5 } },
      'guardrails(): "extension.maxFactor" must be a number from 1 or Infinity; received 0.5.',
    ],
    [
      { session: { maxTokens: 9, extension: { perCompletion: 1, limits: ['maxTokens'] } } },
      'guardrails(): "session.extension" raises "maxTokens" in proportion to "maxSteps", which has no limit above 0. Set "maxSteps", or remove "maxTokens" from the extension.',
    ],
    [
      { maxSteps: Infinity, maxTokens: 9, extension: { perCompletion: 1, limits: ['maxTokens'] } },
      'guardrails(): "extension" raises "maxTokens" in proportion to "maxSteps", which has no limit above 0.',
    ],
    [null, 'guardrails(): options must be an object; received null.'],
    [7, 'guardrails(): options must be an object; received 7.'],
  ])('rejects %j', (options, message) => {
    expect(() => guardrails(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining(message) as string }),
    );
  });

  it('may each be undefined', () => {
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

  it('allow an extension of tokens in a turn with its default limit on steps', () => {
    expect(() => guardrails({ maxTokens: 9, extension: { perCompletion: 1, limits: ['maxTokens'] } })).not.toThrow();
  });
});

describe('the options of createBudget', () => {
  it.each<readonly [unknown, string]>([
    [
      { maxStep: 3 },
      'createBudget(): unknown option "maxStep" (received 3). Did you mean "maxSteps"? Known options: maxSteps, ',
    ],
    [{ maxTokens: -3 }, 'createBudget(): "maxTokens" must be an integer from 0 or Infinity; received -3.'],
    [{ name: '' }, 'createBudget(): "name" must be a non-empty string; received "".'],
  ])('rejects %j', (options, message) => {
    expect(() => createBudget(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining(message) as string }),
    );
  });

  it('are those of a share, except restore', () => {
    expect(() => createBudget().share({ restore: {} } as never)).toThrow('share(): unknown option "restore"');
  });
});
