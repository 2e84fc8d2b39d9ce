import { anyFunction, integerFrom, numberFrom, required } from '@h/options';
import type { MaybePromise, MessageList } from '@h/turn';
import { aProject, checkOptions } from '../own-options.js';
import type { Project } from '../project.js';

/** Options of {@link handOff}. */
export interface HandOffOptions {
  /** The project whose folder stores the briefings. */
  readonly project: Project;
  /**
   * The number of consecutive compactions that may fail, or save less than `leastSaving`, before a hand-off.
   *
   * @defaultValue `2`, one may fail by chance
   */
  readonly maxFailedCompactions?: number | undefined;
  /**
   * The share of tokens that a compaction must save to count as successful.
   *
   * @defaultValue `0.1`, less is used up by a few steps
   */
  readonly leastSaving?: number | undefined;
  /**
   * The number of steps that `loopDetect` may refuse in a turn, their calls or their answer, before a hand-off.
   *
   * @defaultValue `3`, one denial often helps, three do not
   */
  readonly maxLoopBlocks?: number | undefined;
  /**
   * Returns whether the model is confused; called before each request. If it throws, the model counts as not confused.
   *
   * @defaultValue none
   */
  readonly isConfused?:
    | ((context: { readonly session: string; readonly step: number; readonly messages: MessageList }) => boolean)
    | undefined;
  /**
   * Returns facts that the briefing lists verbatim, by name: running sub-agents, the rest of a budget. The briefing is
   * written without them if they fail, or take longer than 10 s or half of `timeoutMs`.
   *
   * @defaultValue none
   */
  readonly facts?:
    | ((context: { readonly turn: string; readonly session: string }) => MaybePromise<Readonly<Record<string, string>>>)
    | undefined;
  /**
   * The maximum number of hand-offs in a session, and of failed briefings in a turn. After that the context stays, and
   * the limits of the session decide.
   *
   * @defaultValue `3`
   */
  readonly maxResets?: number | undefined;
  /**
   * The minimum number of model calls between two hand-offs of a turn. One that is due earlier shows that hand-offs do
   * not help.
   *
   * @defaultValue `5`
   */
  readonly minSteps?: number | undefined;
  /**
   * The maximum length of a briefing, in tokens.
   *
   * @defaultValue `4_000`, about 3,000 words
   */
  readonly maxBriefingTokens?: number | undefined;
  /**
   * The time limit of a hand-off, in milliseconds.
   *
   * @defaultValue `300_000`, about the time limit of a summary of 180,000 tokens
   */
  readonly timeoutMs?: number | undefined;
}

type Callbacks = Pick<HandOffOptions, 'isConfused' | 'facts'>;
type Values = Omit<HandOffOptions, keyof Callbacks>;

/** The options with their defaults. */
export type HandOffSettings = { readonly [Name in keyof Values]-?: Exclude<Values[Name], undefined> } & Callbacks;

/** Checks and completes the options. @throws ContinuityError `invalid-option` */
export const handOffSettingsOf = (options: HandOffOptions): HandOffSettings => {
  checkOptions('handOff()', options, {
    project: required(aProject),
    maxFailedCompactions: integerFrom(1),
    leastSaving: numberFrom(0, 1),
    maxLoopBlocks: integerFrom(1),
    isConfused: anyFunction,
    facts: anyFunction,
    maxResets: integerFrom(0),
    minSteps: integerFrom(0),
    maxBriefingTokens: integerFrom(100),
    timeoutMs: integerFrom(1),
  });
  return {
    project: options.project,
    maxFailedCompactions: options.maxFailedCompactions ?? 2,
    leastSaving: options.leastSaving ?? 0.1,
    maxLoopBlocks: options.maxLoopBlocks ?? 3,
    isConfused: options.isConfused,
    facts: options.facts,
    maxResets: options.maxResets ?? 3,
    minSteps: options.minSteps ?? 5,
    maxBriefingTokens: options.maxBriefingTokens ?? 4_000,
    timeoutMs: options.timeoutMs ?? 300_000,
  };
};
