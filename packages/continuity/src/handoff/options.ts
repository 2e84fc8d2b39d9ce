import type { ErrorInfo, MaybePromise, MessageList, Usage } from '@h/turn';
import { anyFunction, numberFrom, objectWithMethods, required, integerFrom } from '@h/options';
import { aProject, checkOptions } from '../own-options.js';
import type { Project } from '../project.js';

/** A question to a summariser: the shape of `SummarizeRequest` of `@h/compaction`. */
export interface BriefingQuestion {
  readonly instructions: string;
  readonly text: string;
  readonly maxOutputTokens: number;
  readonly purpose: 'summarize' | 'merge' | 'correct';
}

/** Writes the briefing: `summarizeWith(model)` of `@h/compaction`, or any function. It fails by throwing. */
export type Summarizer = (
  question: BriefingQuestion,
  context: { readonly turn: string; readonly session: string; readonly signal: AbortSignal },
) => MaybePromise<string | { readonly text: string; readonly usage?: Usage | undefined }>;

/** Finds what must not be paraphrased, and tells what of it a text lacks: `extractIdentifiers` and `missingIdentifiers` of `@h/compaction`. */
export interface IdentifierProof<Found extends { readonly value: string } = { readonly value: string }> {
  extract(text: string): readonly Found[];
  missing(identifiers: readonly Found[], text: string): readonly Found[];
}

/** Where a turn stands when it is asked whether its model is confused. */
export interface ConfusionContext {
  readonly session: string;
  readonly step: number;
  readonly messages: MessageList;
}

/** Options of {@link handOff}. */
export interface HandOffOptions {
  readonly project: Project;
  readonly summarize: Summarizer;
  /** Proves letter by letter that identifiers are in the briefing. */
  readonly identifiers: IdentifierProof;
  /**
   * How many compactions in a row may fail, or save next to nothing, before the context is given up.
   *
   * @defaultValue `2`
   */
  readonly maxFailedCompactions?: number | undefined;
  /**
   * The least share of tokens that a compaction has to save to count as help.
   *
   * @defaultValue `0.1`
   */
  readonly leastSaving?: number | undefined;
  /**
   * How many steps of a turn `loopDetect` may refuse, their calls or their answer, before the context is given up.
   *
   * @defaultValue `3`
   */
  readonly maxLoopBlocks?: number | undefined;
  /**
   * Whether the model has lost its way, asked before each request: a judge of your own. One that throws says no.
   *
   * @defaultValue nobody is asked
   */
  readonly isConfused?: ((context: ConfusionContext) => boolean) | undefined;
  /**
   * What the briefing has to say besides, as it is: which sub-agents run, what is left of a budget. By their names.
   *
   * @defaultValue none
   */
  readonly facts?:
    | ((context: { readonly turn: string; readonly session: string }) => MaybePromise<Readonly<Record<string, string>>>)
    | undefined;
  /**
   * How many resets a session may have, and how many briefings of a turn may fail. Beyond that the context stays, and the session's own
   * limits decide.
   *
   * @defaultValue `3`
   */
  readonly maxResets?: number | undefined;
  /**
   * How many model calls have to lie between two resets of a turn: one that is due earlier shows that they do not help.
   *
   * @defaultValue `5`
   */
  readonly minSteps?: number | undefined;
  /**
   * How much of the history a summariser reads at a time, in characters.
   *
   * @defaultValue `200_000`, about 50,000 tokens
   */
  readonly chunkChars?: number | undefined;
  /**
   * How long a briefing may be, in tokens.
   *
   * @defaultValue `4_000`
   */
  readonly maxBriefingTokens?: number | undefined;
  /**
   * How long the whole briefing may take, in milliseconds.
   *
   * @defaultValue `300_000`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether an error says that a request was too long: `isContextOverflow` of `@h/compaction`. Then a chunk is cut in two, and a
   * model call that failed for it is made again with a fresh context.
   *
   * @defaultValue by the code `context-overflow` or `context_length_exceeded`, or the usual words
   */
  readonly isOverflow?: ((error: ErrorInfo) => boolean) | undefined;
  /**
   * Takes secrets out of what is summarised and kept: `redactSecrets` of `@h/compaction`.
   *
   * @defaultValue nothing is taken out
   */
  readonly redact?: ((text: string) => string) | undefined;
}

/** What has a default, or is required. */
type Defaulted = Omit<HandOffOptions, 'isConfused' | 'facts'>;

/** Options with their defaults. */
export type HandOffSettings = { readonly [Name in keyof Defaulted]-?: Exclude<Defaulted[Name], undefined> } & Pick<
  HandOffOptions,
  'isConfused' | 'facts'
>;

const overflowWords =
  /context.{0,20}(?:length|window|limit)|(?:prompt|input|request) is too (?:long|large)|too many tokens|maximum.{0,20}tokens/i;

const saysOverflow = ({ code, message }: ErrorInfo): boolean =>
  code === 'context-overflow' || code === 'context_length_exceeded' || overflowWords.test(message);

/** The options, checked and completed. @throws ContinuityError `invalid-option` */
export const handOffSettingsOf = (options: HandOffOptions): HandOffSettings => {
  checkOptions('handOff()', options, {
    project: required(aProject),
    summarize: required(anyFunction),
    identifiers: required(objectWithMethods('extract', 'missing')),
    maxFailedCompactions: integerFrom(1),
    leastSaving: numberFrom(0, 1),
    maxLoopBlocks: integerFrom(1),
    isConfused: anyFunction,
    facts: anyFunction,
    maxResets: integerFrom(0),
    minSteps: integerFrom(0),
    chunkChars: integerFrom(1_000),
    maxBriefingTokens: integerFrom(100),
    timeoutMs: integerFrom(1),
    isOverflow: anyFunction,
    redact: anyFunction,
  });
  const { isConfused, facts } = options;
  return {
    project: options.project,
    summarize: options.summarize,
    identifiers: options.identifiers,
    maxFailedCompactions: options.maxFailedCompactions ?? 2,
    leastSaving: options.leastSaving ?? 0.1,
    maxLoopBlocks: options.maxLoopBlocks ?? 3,
    maxResets: options.maxResets ?? 3,
    minSteps: options.minSteps ?? 5,
    chunkChars: options.chunkChars ?? 200_000,
    maxBriefingTokens: options.maxBriefingTokens ?? 4_000,
    timeoutMs: options.timeoutMs ?? 300_000,
    isOverflow: options.isOverflow ?? saysOverflow,
    redact: options.redact ?? ((text) => text),
    isConfused,
    facts,
  };
};
