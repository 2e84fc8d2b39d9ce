import { notice, stop, type NewEvent, type TurnEventOf } from '@h/turn';
import type { Amounts } from './counters.js';
import { describeLimit, limitFacts, type LimitName, type LimitState } from './limits.js';
import type { TurnAccounts } from './turn-accounts.js';

/** The events that end a turn whose limit is used up. */
export const exceeded = (limit: LimitState): readonly NewEvent[] => {
  const rest = limit.used < limit.max ? ' The rest is not enough for another step.' : '';
  return [notice('budget.exceeded', limit), stop(limitFacts[limit.limit].outcome, `${describeLimit(limit)}${rest}`)];
};

/** The end of a turn that has summed up its work; replaces the stop after the model's answer. */
export const summedUp = (limit: LimitState, event: TurnEventOf<'turn.stop'>): readonly NewEvent[] => {
  const reason = `${describeLimit(limit)} Its last step ran without tools, to sum up.`;
  return [notice('budget.exceeded', limit), { ...event, outcome: limitFacts[limit.limit].outcome, reason }];
};

/** The end of a turn whose budget was cut off. */
export const cutOff = (reason: string): readonly NewEvent[] => [
  stop('budget-exceeded', `The budget was cut off: ${reason}`),
];

/** The end of a turn whose answers with tool calls were truncated too often. */
export const cutTooOften = (count: number, most: number): readonly NewEvent[] => [
  stop(
    'budget-exceeded',
    `${count} answers with tool calls were truncated at the output limit; at most ${most} are continued.`,
  ),
];

/** The end of a turn whose cost limit cannot be enforced, because part of the cost is unknown. */
export const unpriced = (accounts: TurnAccounts, now: number): readonly NewEvent[] | undefined => {
  for (const account of accounts.all) {
    const { unpricedCalls } = account;
    if (unpricedCalls === 0 || !account.limits('maxCost')) continue;
    const limit = account.state('maxCost', now);
    const reason = `The cost of ${unpricedCalls} model ${unpricedCalls === 1 ? 'call' : 'calls'} of the ${account.scope} is unknown, so its limit of ${limit.max} cannot be enforced.`;
    return [notice('budget.exceeded', limit), stop('budget-exceeded', reason)];
  }
  return undefined;
};

const whileStreaming: ReadonlySet<LimitName> = new Set<LimitName>([
  'maxTokens',
  'maxOutputTokens',
  'maxCost',
  'maxOutputChars',
]);

/** The limit that a model call under way exceeds most, with the use of the call included. */
export const overrunBy = (accounts: TurnAccounts, amounts: Amounts, now: number): LimitState | undefined => {
  let tightest: LimitState | undefined;
  for (const account of accounts.all) {
    for (const state of account.states(now)) {
      if (!whileStreaming.has(state.limit)) continue;
      const used = { ...state, used: state.used + limitFacts[state.limit].measure(amounts) };
      if (tightest === undefined || shareOf(used) > shareOf(tightest)) tightest = used;
    }
  }
  return tightest;
};

const shareOf = ({ used, max }: LimitState): number => (max === 0 ? Infinity : used / max);
