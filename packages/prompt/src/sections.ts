import type { JSONObject, MaybePromise, MessageList, ToolDefinition, TurnTrigger } from '@h/turn';

/**
 * How long a section stays unchanged, which decides its position in the request.
 *
 * | tier | loaded | sent |
 * |---|---|---|
 * | `frozen` | once per harness | first system block, with a cache mark |
 * | `session` | once per turn | second system block, with a cache mark |
 * | `volatile` | for each request | after the history, never stored |
 * | `bootstrap` | when it is sent | once per session, as a message before the input |
 */
export type SectionTier = 'frozen' | 'session' | 'volatile' | 'bootstrap';

/** Argument of the function of a frozen section. */
export interface FrozenContext {
  /** The `capabilities` option: trimmed, sorted, without duplicates. */
  readonly capabilities: readonly string[];
  /** Aborted when the section times out or the turn ends. */
  readonly signal: AbortSignal;
}

/** Argument of the function of a session or bootstrap section. */
export interface SessionContext extends FrozenContext {
  readonly turn: string;
  readonly session: string;
  readonly trigger: TurnTrigger;
  readonly metadata?: JSONObject | undefined;
  /** Start of the turn in milliseconds since 1970. A text with the time of day invalidates the cache in every turn. */
  readonly startedAt: number;
}

/** Argument of the function of a volatile section. */
export interface VolatileContext extends SessionContext {
  /** Time of the request in milliseconds since 1970. */
  readonly at: number;
  readonly step: number;
  readonly attempt: number;
  readonly model?: string | undefined;
  readonly messages: MessageList;
  readonly tools: readonly ToolDefinition[];
}

/** A problem with a section that is used nevertheless. Emitted as `prompt.problem`. */
export interface SectionProblem {
  /** A stable code: `'shortened'`, `'withheld'`, `'collision'` … */
  readonly code: string;
  readonly message: string;
  readonly path?: string | undefined;
}

/** Result of a section function; `null` and `undefined` leave the section out. */
export type SectionValue =
  | string
  | { readonly text: string; readonly problems?: readonly SectionProblem[] | undefined }
  | null
  | undefined;

/** A section of the prompt. An empty section is left out and does not change the rendered bytes. */
export interface PromptSection<Context = FrozenContext> {
  /** Identifies the section in hashes and notices. Unique within a prompt. */
  readonly id: string;
  /** The tier of a section from another package. The list of another tier rejects it. */
  readonly tier?: SectionTier | undefined;
  /** The text, or a function that returns it. If the function fails or times out, the section is left out. */
  readonly text: string | ((context: Context) => MaybePromise<SectionValue>);
  /**
   * Time limit of the function in milliseconds, within the common deadline.
   *
   * @defaultValue the common deadline
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum length of a function's result, in characters. A longer text is truncated with a visible note.
   *
   * @defaultValue `50000`, about 12,000 tokens
   */
  readonly maxChars?: number | undefined;
}

/** A section whose text can change between requests. */
export interface VolatileSection extends PromptSection<VolatileContext> {
  /**
   * When the function is called: for each request, or for the first request of a turn.
   *
   * @defaultValue `'request'`
   */
  readonly refresh?: 'request' | 'turn' | undefined;
}

/** A section that a source returned. */
export interface FoundSection {
  readonly id: string;
  readonly text: string;
  /** @defaultValue `'session'` */
  readonly tier?: Exclude<SectionTier, 'frozen'> | undefined;
}

/** Loads sections once per turn, for example files. Sections of the session tier take the position of the source. */
export interface SectionSource {
  /** Identifies the source in notices. Unique within a prompt. */
  readonly id: string;
  /** Called once per turn. If it fails or times out, or a section has another form, all its sections are left out. */
  readonly load: (context: SessionContext) => MaybePromise<{
    readonly sections: readonly FoundSection[];
    readonly problems?: readonly SectionProblem[] | undefined;
  }>;
  /**
   * Time limit of `load` in milliseconds, within the common deadline.
   *
   * @defaultValue the common deadline
   */
  readonly timeoutMs?: number | undefined;
}

declare module '@h/turn' {
  interface TurnEvents {
    /** A section was left out because it timed out, failed, or its id is a duplicate. The turn continues. */
    'prompt.skipped': {
      readonly section: string;
      readonly tier: SectionTier;
      readonly reason: 'timed-out' | 'failed' | 'duplicate';
      readonly message: string;
    };
    /** A section has a problem but is used. */
    'prompt.problem': { readonly section: string } & SectionProblem;
  }
}
