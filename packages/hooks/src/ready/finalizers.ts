import type { ErrorInfo, Message, ToolCall, TurnEvent, TurnOutcome, Usage, UserMessage } from '@h/turn';
import { anyFunction, checkOptions, anyOf, arrayOf, numberFrom } from '@h/options';
import type { AfterReplyContext, HookContext, HookSource, OnDecisionContext } from '../hook.js';
import { ownNote } from '../own-note.js';
import { citationCollector, namedSources, type Citation, type SourcesOf } from './citations.js';

/** A turn that has ended. */
export interface FinishedTurn {
  readonly turn: string;
  readonly session: string;
  readonly at: number;
  /** The input of the turn. */
  readonly input: readonly UserMessage[];
  readonly text: string;
  readonly messages: Iterable<Message>;
  readonly outcome: TurnOutcome;
  readonly usage: Usage;
  readonly steps: number;
}

/** A decision of a hook or a user in a turn. */
export type LoggedDecision = Pick<OnDecisionContext, 'at' | 'callId' | 'hook' | 'kind' | 'reason' | 'step'>;

/** An error of a turn. */
export interface TurnFailure {
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  readonly at: number;
  readonly source: 'model' | 'tool' | 'turn';
  readonly error: ErrorInfo;
  readonly call?: ToolCall | undefined;
}

/** The context of a finalizer. */
export interface FinalizerContext {
  /** Aborted when the finalizer exceeds its time limit, and when the harness stops waiting. */
  readonly signal: AbortSignal;
}

type Done = void | PromiseLike<void>;

/** Options of {@link finalizers}. */
export interface FinalizersOptions {
  /**
   * Receives the sources in the tool results of the turn, as `sourcesOf` finds them. Not called if there are none.
   */
  readonly citations?:
    | ((citations: readonly Citation[], turn: FinishedTurn, context: FinalizerContext) => Done)
    | undefined;
  /**
   * Returns the sources that a result names.
   *
   * @defaultValue `namedSources`
   */
  readonly sourcesOf?: SourcesOf | undefined;
  /** Stores memories. Called only for turns with an answer (`completed`, `replied`). */
  readonly memory?: ((turn: FinishedTurn, context: FinalizerContext) => Done) | undefined;
  /** Receives the decisions of hooks and users in the turn. Not called if there are none. */
  readonly decisions?:
    | ((decisions: readonly LoggedDecision[], turn: FinishedTurn, context: FinalizerContext) => Done)
    | undefined;
  /** Receives each error of models, tools and the turn, including a limit that stops the turn. */
  readonly errors?:
    | ((failure: TurnFailure, context: FinalizerContext) => Done)
    | readonly ((failure: TurnFailure, context: FinalizerContext) => Done)[]
    | undefined;
  /**
   * Time limit of each finalizer in milliseconds. The harness waits at most `closeGraceMs`.
   *
   * @defaultValue `4_000`, within the 5 s that a harness waits by default
   */
  readonly timeoutMs?: number | undefined;
}

const checks = {
  citations: anyFunction,
  sourcesOf: anyFunction,
  memory: anyFunction,
  decisions: anyFunction,
  errors: anyOf(anyFunction, arrayOf(anyFunction)),
  timeoutMs: numberFrom(0, Infinity),
};

const maxDecisions = 1000;
const answered: ReadonlySet<TurnOutcome> = new Set(['completed', 'replied']);

/**
 * Creates hooks that store data of a turn when it ends: its sources, a memory, its decisions, its errors.
 *
 * Finalizers are independent. A finalizer that fails or hangs emits `hook.failed`, and affects neither the others nor
 * the outcome of the turn.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * hooks([...finalizers({ citations: (list) => console.log(list.map(({ url }) => url)) })]);
 * ```
 */
export const finalizers = (options: FinalizersOptions): readonly HookSource[] => {
  checkOptions('finalizers()', options, checks);
  const { citations, sourcesOf = namedSources, memory, decisions, errors = [], timeoutMs = 4_000 } = options;
  const sources: HookSource[] = [];
  if (citations) {
    sources.push(() => {
      const collector = citationCollector(sourcesOf);
      const input = inputKeeper();
      return {
        name: 'citations',
        timeoutMs,
        // These handlers only observe, so a failure must not deny the turn.
        failure: 'open',
        beforeTurn: input.keep,
        onReplay: (event) => {
          input.replay(event);
          collector.replay(event);
        },
        afterTool: ({ call, outcome }) => collector.add(call, outcome),
        afterReply: (context) => {
          const found = collector.list();
          if (found.length > 0) return citations(found, input.finished(context), context);
        },
      };
    });
  }
  if (memory) {
    sources.push(() => {
      const input = inputKeeper();
      return {
        name: 'memory',
        timeoutMs,
        failure: 'open',
        beforeTurn: input.keep,
        onReplay: input.replay,
        afterReply: (context) => (answered.has(context.outcome) ? memory(input.finished(context), context) : undefined),
      };
    });
  }
  if (decisions) {
    sources.push(() => {
      const made: LoggedDecision[] = [];
      const log = (decision: LoggedDecision): void => {
        if (made.length < maxDecisions) made.push(decision);
      };
      const input = inputKeeper();
      return {
        name: 'decisions',
        timeoutMs,
        failure: 'open',
        beforeTurn: input.keep,
        onReplay: (event) => {
          input.replay(event);
          for (const decision of recordedDecisions(event)) log(decision);
        },
        onDecision: ({ at, step, kind, hook, reason, callId }) =>
          log({
            at,
            step,
            kind,
            ...(hook !== undefined && { hook }),
            ...(reason !== undefined && { reason }),
            ...(callId !== undefined && { callId }),
          }),
        afterReply: (context) => (made.length > 0 ? decisions(made, input.finished(context), context) : undefined),
      };
    });
  }
  for (const [index, handle] of [errors].flat().entries()) {
    sources.push({
      name: `errors ${index + 1}`,
      timeoutMs,
      onError: ({ turn, session, step, at, source, error, call, signal }) =>
        handle({ turn, session, step, at, source, error, ...(call !== undefined && { call }) }, { signal }),
    });
  }
  return sources;
};

/** Returns the decisions in the annotations that `hooks()` added to a recorded event. */
const recordedDecisions = ({ annotations }: TurnEvent): readonly LoggedDecision[] =>
  (ownNote(annotations?.['hooks'], 'decisions') as readonly LoggedDecision[] | undefined) ?? [];

const inputKeeper = () => {
  let input: readonly UserMessage[] = [];
  return {
    keep: (context: HookContext & { readonly input: readonly UserMessage[] }): void => {
      input = context.input;
    },
    replay: (event: TurnEvent): void => {
      if (event.type === 'turn.start') input = event.input;
    },
    finished: ({ turn, session, at, text, messages, outcome, usage, steps }: AfterReplyContext): FinishedTurn => ({
      turn,
      session,
      at,
      input,
      text,
      messages,
      outcome,
      usage,
      steps,
    }),
  };
};
