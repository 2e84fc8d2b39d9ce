import { deedAsks } from './deed-asks.js';
import { orderAsks } from './order-asks.js';
import { statements } from './statements.js';

/** A request by its verb and by what the rest of the sentence says. */
export interface Ask {
  readonly rule: string;
  readonly weight: number;
  readonly rest: RegExp;
}

/** Requests by their verb. A lookup by verb keeps the time per sentence constant in the number of patterns. */
const asksByVerb: ReadonlyMap<string, readonly Ask[]> = (() => {
  const byVerb = new Map<string, Ask[]>();
  for (const [rule, weight, verbs, rest] of [...orderAsks, ...deedAsks]) {
    const ask = { rule, weight, rest: new RegExp(rest, 'y') };
    for (const verb of verbs.split(' ')) byVerb.set(verb, [...(byVerb.get(verb) ?? []), ask]);
  }
  return byVerb;
})();

/** Returns the requests of a sentence by its joined words and the offsets at which requests begin. */
export const asksIn = (said: string, starts: readonly number[]): readonly Pick<Ask, 'rule' | 'weight'>[] => {
  const found: Pick<Ask, 'rule' | 'weight'>[] = [];
  for (const start of starts) {
    const space = said.indexOf(' ', start);
    if (space === -1) continue;
    for (const ask of asksByVerb.get(said.slice(start, space)) ?? []) {
      ask.rest.lastIndex = space + 1;
      if (!found.includes(ask) && ask.rest.test(said)) found.push(ask);
    }
  }
  for (const one of statements) {
    if (one.cues.some((cue) => said.includes(cue)) && one.pattern.test(said)) found.push(one);
  }
  return found;
};
