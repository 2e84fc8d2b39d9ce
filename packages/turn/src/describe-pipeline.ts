import { interceptor } from './intercept.js';
import { isInterceptor, type PipelineOperator } from './pipeline.js';

/** The operators of a pipeline, and what is doubtful about their order. */
export interface PipelineDescription {
  readonly operators: readonly string[];
  readonly warnings: readonly string[];
  /** Both, to be printed. */
  toString(): string;
}

interface Rule {
  readonly first: string;
  readonly second: string;
  readonly because: string;
}

const rules: readonly Rule[] = [
  ...['hooks', 'guardrails', 'failover', 'prompt', 'compaction', 'loop-detect', 'tools', 'security', 'observe'].map(
    (second) => ({
      first: 'queue',
      second,
      because: 'nothing should happen before the turn is admitted',
    }),
  ),
  { first: 'queue', second: 'git', because: 'a turn that is not admitted must not switch branches' },
  { first: 'queue', second: 'subagents', because: 'a parent that waits could not find the place that it frees' },
  { first: 'subagents', second: 'guardrails', because: 'the steps that results cause would not be counted' },
  { first: 'hooks', second: 'policy-guard', because: 'a call that was rewritten afterwards would not be judged' },
  { first: 'hooks', second: 'guardrails', because: "people's rules see everything as it comes in" },
  { first: 'guardrails', second: 'failover', because: 'a retry inserted above the guard is not counted' },
  { first: 'guardrails', second: 'compaction', because: 'a turn that may not go on would pay for a summary' },
  ...['prompt', 'skills', 'continuity', 'compaction'].map((second) => ({
    first: 'failover',
    second,
    because: 'another model needs a request that is shaped and fitted for it again',
  })),
  ...['prompt', 'skills', 'continuity'].map((first) => ({
    first,
    second: 'compaction',
    because: 'what is added after fitting can overflow the window',
  })),
  { first: 'compaction', second: 'late-hooks', because: 'hooks hear of compaction from what comes before them' },
  ...['compaction', 'loop-detect'].map((first) => ({
    first,
    second: 'hand-off',
    because: 'a hand-off begins where these say that they are of no more use',
  })),
  { first: 'continuity', second: 'git', because: 'what a session notes at its end belongs into its commit' },
  { first: 'loop-detect', second: 'tools', because: 'results are compared before they are capped' },
  { first: 'loop-detect', second: 'security', because: 'no two wraps are alike, so no result would be the same' },
  { first: 'tools', second: 'security', because: 'capping after wrapping can cut through a wrapper' },
  ...['hooks', 'guardrails', 'failover', 'prompt', 'compaction', 'loop-detect', 'tools', 'security'].map((first) => ({
    first,
    second: 'observe',
    because: 'what comes after it is not observed',
  })),
  { first: 'security', second: 'record', because: 'what has not been redacted would be recorded' },
];

/**
 * Lists the operators of an agent in their order and warns about orders that are known to go wrong.
 *
 * @example
 * ```ts
 * console.log(String(describePipeline(agent)));
 * ```
 */
export const describePipeline = (agent: { readonly operators: readonly PipelineOperator[] }): PipelineDescription => {
  const operators = agent.operators.map((operator) =>
    isInterceptor(operator)
      ? operator[interceptor].name
      : `${operator.name === '' ? 'an RxJS operator' : operator.name} (native)`,
  );
  const warnings = rules
    .filter(({ first, second }) => {
      const place = operators.indexOf(second);
      return place !== -1 && operators.lastIndexOf(first) > place;
    })
    .map(({ first, second, because }) => `${first} stands after ${second}: ${because}.`);
  return {
    operators,
    warnings,
    toString: () =>
      [
        ...operators.map((name, index) => `${String(index + 1).padStart(2)}. ${name}`),
        ...warnings.map((warning) => `!  ${warning}`),
      ].join('\n'),
  };
};
