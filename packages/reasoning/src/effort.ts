import type { TurnTrigger } from '@h/turn';

/** The efforts of `settings.reasoning`, lowest first. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** A value of `settings.reasoning`. */
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** What {@link chooseEffort} decides by. */
export interface EffortFacts {
  readonly trigger: TurnTrigger;
  /** Number of the step, from 1. */
  readonly step: number;
  /** The effort that the user asked for in words, if any. */
  readonly asked?: ReasoningEffort | undefined;
  /** Tool calls that failed in a row, up to this step. */
  readonly failures: number;
  /** Whether a loop warning was emitted in the turn. */
  readonly isLooping: boolean;
  /** The share of the budget that is left, from 0 to 1; 1 without a budget. */
  readonly budgetLeft: number;
  /** Time until the turn's deadline in milliseconds; `Infinity` without one. */
  readonly timeLeftMs: number;
  /** Whether the turn has used up its reasoning tokens. */
  readonly isSpent: boolean;
  /**
   * The effort of the turn's earlier requests to this model, if the provider needs it constant: the result is not
   * higher, and `none` only if this is `none`.
   */
  readonly held?: ReasoningEffort | undefined;
  /** Whether the effort will be held for the rest of the turn, so that the first step is not special. */
  readonly isHeld: boolean;
}

/** The numbers that {@link chooseEffort} decides with. */
export interface EffortRules {
  /** The effort by the origin of the turn. */
  readonly triggers: Readonly<Record<string, ReasoningEffort>>;
  /** The effort of other origins. */
  readonly other: ReasoningEffort;
  /** The number of failed tool calls in a row that raises the effort by one level. */
  readonly failures: number;
  /** The highest effort that is reached by raising. */
  readonly raisedAtMost: ReasoningEffort;
  /** Below this share of the budget, the effort is `low` at most. */
  readonly lowBudget: number;
  /** Below this time until the deadline in milliseconds, the effort is `low` at most. */
  readonly shortTimeMs: number;
}

/**
 * The default rules.
 *
 * - `medium` for people: the default of OpenAI's models and of Claude Opus 5.5, and where Anthropic's guide for agents
 *   on Claude Sonnet 5.5 says to start (providers' documentation, read on 22 November 2026).
 * - `low` for a heartbeat and for memory, which mostly find nothing to do or condense text.
 * - Two failures in a row: the first is often a typing error that the message of the tool corrects.
 * - `high` at most by raising: higher levels are not available on every model.
 * - A quarter of the budget, one minute: what an answer at `high` takes on the larger models.
 */
export const defaultEffortRules: EffortRules = {
  triggers: {
    user: 'medium',
    manual: 'medium',
    subagent: 'medium',
    cron: 'medium',
    heartbeat: 'low',
    memory: 'low',
  },
  other: 'medium',
  failures: 2,
  raisedAtMost: 'high',
  lowBudget: 0.25,
  shortTimeMs: 60_000,
};

/**
 * Chooses the effort of a model call. Pure: equal facts give equal efforts.
 *
 * The user's words come first, then the trigger. The first step, which plans, is one level higher, and so is a step
 * after failures or a loop warning. A small rest of budget or time lowers the effort to `low`, a spent allowance to
 * `none`. A held effort is only ever lowered, and never switched off.
 *
 * @example
 * ```ts
 * chooseEffort({
 *   trigger: 'user', step: 1, failures: 0, isLooping: false, budgetLeft: 1, timeLeftMs: Infinity, isSpent: false, isHeld: false,
 * }); // 'high'
 * ```
 */
export const chooseEffort = (facts: EffortFacts, rules: EffortRules = defaultEffortRules): ReasoningEffort => {
  const { held } = facts;
  const wanted = held === undefined ? wantedEffort(facts, rules) : rankOf(held);
  const lowered = Math.min(wanted, highestEffort(facts, rules));
  const isOn = held !== undefined && held !== 'none';
  return effortAt(isOn ? Math.max(lowered, rankOf('minimal')) : lowered);
};

const wantedEffort = (facts: EffortFacts, { triggers, other, failures, raisedAtMost }: EffortRules): number => {
  const { asked, trigger, step, isHeld } = facts;
  if (asked !== undefined) return rankOf(asked);
  const usual = rankOf(Object.hasOwn(triggers, trigger) ? (triggers[trigger] ?? other) : other);
  // What was switched off stays off.
  if (usual === 0) return usual;
  const isPlanning = step === 1 && !isHeld && (trigger === 'user' || trigger === 'manual');
  const isStuck = facts.failures >= failures || facts.isLooping;
  const raised = usual + (isPlanning || isStuck ? 1 : 0);
  return Math.max(usual, Math.min(raised, rankOf(raisedAtMost)));
};

const highestEffort = (
  { isSpent, budgetLeft, timeLeftMs }: EffortFacts,
  { lowBudget, shortTimeMs }: EffortRules,
): number => {
  if (isSpent) return rankOf('none');
  return budgetLeft < lowBudget || timeLeftMs < shortTimeMs ? rankOf('low') : reasoningEfforts.length - 1;
};

/** The effort that the model accepts: the next lower one, or its lowest. */
export const fitEffort = (
  effort: ReasoningEffort,
  accepted: readonly ReasoningEffort[],
): ReasoningEffort | undefined => {
  const wanted = rankOf(effort);
  return accepted.findLast((one) => rankOf(one) <= wanted) ?? accepted[0];
};

const rankOf = (effort: ReasoningEffort): number => reasoningEfforts.indexOf(effort);
const effortAt = (rank: number): ReasoningEffort => reasoningEfforts[rank] ?? 'none';
