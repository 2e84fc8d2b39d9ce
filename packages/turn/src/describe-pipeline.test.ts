import { map, type MonoTypeOperatorFunction } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { describePipeline } from './describe-pipeline.js';
import type { TurnEvent } from './events.js';
import { harness } from './harness.js';
import { intercept } from './intercept.js';
import { scriptedModel } from './testing/index.js';

const pipeline = (...names: readonly string[]) =>
  harness({ model: scriptedModel([]) }).pipe(...names.map((name) => intercept(name, () => ({}))));
const inOrder = [
  'queue',
  'hooks',
  'subagents',
  'guardrails',
  'failover',
  'prompt',
  'skills',
  'continuity',
  'git',
  'compaction',
  'late-hooks',
  'loop-detect',
  'hand-off',
  'tools',
  'security',
  'observe',
  'record',
  'policy-guard',
];

describe('describePipeline', () => {
  it('prints the operators in order, native ones as such', () => {
    const named: MonoTypeOperatorFunction<TurnEvent> = function logging(source) {
      return source.pipe(map((event) => event));
    };
    const agent = harness({ model: scriptedModel([]) }).pipe(
      intercept('queue', () => ({})),
      map((event) => event),
      named,
    );
    const { operators, warnings } = describePipeline(agent);
    expect(operators).toEqual(['queue', 'an RxJS operator (native)', 'logging (native)']);
    expect(warnings).toEqual([]);
    expect(String(describePipeline(agent))).toBe(' 1. queue\n 2. an RxJS operator (native)\n 3. logging (native)');
  });

  it('has nothing to say about the order of the architecture, nor about operators that it does not know', () => {
    expect(describePipeline(pipeline(...inOrder)).warnings).toEqual([]);
    expect(describePipeline(pipeline('observe-weather', 'mine', 'prompt', 'another')).warnings).toEqual([]);
    expect(describePipeline(pipeline()).toString()).toBe('');
  });

  it.each([
    ['guardrails', 'queue', 'queue stands after guardrails: nothing should happen before the turn is admitted.'],
    ['git', 'queue', 'queue stands after git: a turn that is not admitted must not switch branches.'],
    ['subagents', 'queue', 'queue stands after subagents: a parent that waits could not find the place that it frees.'],
    [
      'guardrails',
      'subagents',
      'subagents stands after guardrails: the steps that results cause would not be counted.',
    ],
    [
      'policy-guard',
      'hooks',
      'hooks stands after policy-guard: a call that was rewritten afterwards would not be judged.',
    ],
    ['guardrails', 'hooks', "hooks stands after guardrails: people's rules see everything as it comes in."],
    ['failover', 'guardrails', 'guardrails stands after failover: a retry inserted above the guard is not counted.'],
    [
      'compaction',
      'failover',
      'failover stands after compaction: another model needs a request that is shaped and fitted for it again.',
    ],
    ['compaction', 'prompt', 'prompt stands after compaction: what is added after fitting can overflow the window.'],
    [
      'compaction',
      'guardrails',
      'guardrails stands after compaction: a turn that may not go on would pay for a summary.',
    ],
    [
      'late-hooks',
      'compaction',
      'compaction stands after late-hooks: hooks hear of compaction from what comes before them.',
    ],
    [
      'hand-off',
      'compaction',
      'compaction stands after hand-off: a hand-off begins where these say that they are of no more use.',
    ],
    ['git', 'continuity', 'continuity stands after git: what a session notes at its end belongs into its commit.'],
    [
      'security',
      'loop-detect',
      'loop-detect stands after security: no two wraps are alike, so no result would be the same.',
    ],
    ['record', 'security', 'security stands after record: what has not been redacted would be recorded.'],
    ['tools', 'loop-detect', 'loop-detect stands after tools: results are compared before they are capped.'],
    ['security', 'tools', 'tools stands after security: capping after wrapping can cut through a wrapper.'],
    ['observe', 'security', 'security stands after observe: what comes after it is not observed.'],
  ])('warns when %s stands before %s, and prints why', (first, second, warning) => {
    const described = describePipeline(pipeline(first, second));
    expect(described.warnings).toEqual([warning]);
    expect(String(described)).toBe(` 1. ${first}\n 2. ${second}\n!  ${warning}`);
  });

  it('warns of every pair that two operators in each other’s place put in a wrong order', () => {
    for (const [place, name] of inOrder.entries()) {
      for (const other of inOrder.slice(place + 1)) {
        const swapped = describePipeline(pipeline(other, name)).warnings;
        const kept = describePipeline(pipeline(name, other)).warnings;
        expect(kept, `${name}, ${other}`).toEqual([]);
        expect(swapped.length, `${other}, ${name}`).toBeLessThanOrEqual(1);
      }
    }
  });
});
