import type {
  ErrorInfo,
  MaybePromise,
  Message,
  NewEvent,
  ObserveHandlers,
  OperatorContext,
  TurnEventOf,
  Usage,
} from '@h/turn';
import type { IdentifierReport } from './events.js';
import type { CompactionFailureReason } from './failure.js';

/**
 * The last strategy of compaction: it starts over with a new history when the other strategies no longer help, or when
 * the history must go for a reason other than its size. `handOff()` of `@h/continuity` returns one.
 *
 * Contract:
 * - `observe` and `compacted` see the same in a turn that is resumed; what `decide` needs to know is learned there.
 * - What the session's next turn must know is stored with `keep(name, value)` and read in `session.loaded`.
 */
export interface LastResort {
  /** Its name in notices; also the origin of its `history.replace`. */
  readonly name: string;
  /** Operators that belong before compaction if this strategy is used. */
  readonly after?: readonly string[] | undefined;
  /** Creates the state of one turn. */
  start(operator: OperatorContext): LastResortTurn;
}

/** The last strategy during one turn. */
export interface LastResortTurn {
  readonly observe: ObserveHandlers;
  /** Receives the share of tokens that a compaction saved, 0 if it failed, when the request after it has left. */
  compacted(saved: number): void;
  /** Decides before every request, and after a request was too long for the provider. */
  decide(situation: LastResortSituation): MaybePromise<LastResortDecision | undefined>;
  /** Returns the events to add before the turn ends. */
  close(event: TurnEventOf<'turn.end'>): readonly NewEvent[];
}

/** What the last strategy decides about. */
export interface LastResortSituation {
  /** The request, after the other strategies. */
  readonly request: TurnEventOf<'model.request'>;
  /** The share of tokens that the other strategies have just saved: 0 if they failed, `undefined` if none was tried. */
  readonly saved: number | undefined;
  /** The error, if the provider rejected the request as too long. */
  readonly error?: ErrorInfo | undefined;
  /** Counts the tokens of a message. */
  readonly count: (message: Message) => number;
  /** Stores the full history with the option `archive` and returns its reference. */
  readonly archive: () => Promise<string | undefined>;
  /**
   * Has the summarizers write a report on messages, with the limits, retries and redaction that the options set.
   * Identifiers that the report lacks are appended to it.
   *
   * @throws CompactionError
   */
  readonly report: (messages: readonly Message[], options: ReportOptions) => Promise<Report>;
  /** Aborted when the turn ends. */
  readonly signal: AbortSignal;
}

/** The decision of the last strategy. */
export interface LastResortDecision {
  /** The new history; absent if it stays unchanged. */
  readonly messages?: readonly Message[] | undefined;
  /** Events to add before the request, after the new history. */
  readonly events: readonly NewEvent[];
}

/** A task for the summarizers. */
export interface ReportOptions {
  /** What the report is for: a paragraph that is added to the instructions. */
  readonly purpose: string;
  /** The maximum length, in tokens. */
  readonly maxTokens: number;
  /** Aborted when the report is no longer needed. */
  readonly signal: AbortSignal;
}

/** A report that contains every identifier for which there was room. */
export interface Report {
  readonly text: string;
  readonly identifiers: IdentifierReport;
  readonly usage: Usage;
}

/** Failures after which starting over would not help, or that came before a strategy was tried. */
const otherFailures: ReadonlySet<CompactionFailureReason> = new Set(['cancelled', 'overhead', 'archive-failed']);

/** The effect of the compaction before a request, from its notices. */
export class CompactionEffect {
  #saved: number | undefined;

  failed({ reason }: { readonly reason: CompactionFailureReason }): void {
    if (!otherFailures.has(reason)) this.#saved ??= 0;
  }

  done({ tokensBefore, tokensAfter }: { readonly tokensBefore: number; readonly tokensAfter: number }): void {
    this.#saved = tokensBefore > 0 ? (tokensBefore - tokensAfter) / tokensBefore : 0;
  }

  /** Returns the share of tokens that was saved, once. */
  take(): number | undefined {
    const saved = this.#saved;
    this.#saved = undefined;
    return saved;
  }
}

/** The effect that these notices report. */
export const effectOf = (notices: readonly NewEvent[]): number | undefined => {
  const effect = new CompactionEffect();
  for (const event of notices) {
    if (event.type === 'compaction.failed') effect.failed(event);
    if (event.type === 'compaction.done') effect.done(event);
  }
  return effect.take();
};
