import { notice, stop, type NewEvent, type TurnEventOf } from '@h/turn';
import type { Amounts } from './counters.js';
import { describeLimit, limitFacts, type LimitName, type LimitState } from './limits.js';
import type { TurnAccounts } from './turn-accounts.js';

/** A limit that is used up, as the events that end the turn. */
export const exceeded = (limit: LimitState): readonly NewEvent[] => {
  const rest = limit.used < limit.max ? ' What is left is not enough for another step.' : '';
  return [notice('budget.exceeded', limit), stop(limitFacts[limit.limit].outcome, `${describeLimit(limit)}${rest}`)];
};

/** The end of a turn that has summed up its work, in place of the end that the model thought it was. */
export const summedUp = (limit: LimitState, event: TurnEventOf<'turn.stop'>): readonly NewEvent[] => {
  const reason = `${describeLimit(limit)} Its last step ran without tools, to sum up.`;
  return [notice('budget.exceeded', limit), { ...event, outcome: limitFacts[limit.limit].outcome, reason }];
};

/** The end of a turn whose budget was cut off. */
export const cutOff = (reason: string): readonly NewEvent[] => [
  stop('budget-exceeded', `The budget was cut off: ${reason}`),
];

/** The end of a turn whose answers with tool calls were cut off too often. */
export const cutTooOften = (count: number, most: number): readonly NewEvent[] => [
  stop(
    'budget-exceeded',
    `Answers with tool calls were cut off at the output limit ${count} times; ${most} may go on.`,
  ),
];

/** The end of a turn whose limit on cost cannot be kept, because nobody knows what has been spent. */
export const unpriced = (accounts: TurnAccounts, now: number): readonly NewEvent[] | undefined => {
  for (const account of accounts.all) {
    const { unpricedCalls } = account.used();
    if (unpricedCalls === 0 || !account.limits('maxCost')) continue;
    const limit = account.state('maxCost', now);
    const reason = `What ${unpricedCalls} of the model calls of the ${account.scope} have cost is not known, so its limit of ${limit.max} cannot be kept.`;
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

/** The limit that has no room for what a model call has used so far, with that in it. */
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
