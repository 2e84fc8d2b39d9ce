import type { JSONObject, MaybePromise, MessageList, ToolDefinition, TurnTrigger } from '@h/turn';

/**
 * How long a section stays as it is, which decides where it is sent.
 *
 * | tier | loaded | sent |
 * |---|---|---|
 * | `frozen` | once | first system block, with a cache mark |
 * | `session` | once a turn | second system block, with a cache mark |
 * | `volatile` | for each request | after the history, never stored, never before anything that is cached |
 * | `bootstrap` | when it is sent | once a session, as a message before the input |
 */
export type SectionTier = 'frozen' | 'session' | 'volatile' | 'bootstrap';

/** What the text of a frozen section may depend on. */
export interface FrozenContext {
  /** What the harness can do, as the option says: trimmed, sorted, each once. */
  readonly capabilities: readonly string[];
  /** Aborted when the section's time is up or the turn is over. */
  readonly signal: AbortSignal;
}

/** What the text of a section may depend on that is loaded once a turn. */
export interface SessionContext extends FrozenContext {
  readonly turn: string;
  readonly session: string;
  readonly trigger: TurnTrigger;
  readonly metadata?: JSONObject | undefined;
  /** When the turn began, as milliseconds since 1970. A text with the time of day in it breaks the cache each turn. */
  readonly startedAt: number;
}

/** What the text of a volatile section may depend on. */
export interface VolatileContext extends SessionContext {
  /** The time of the request, as milliseconds since 1970. */
  readonly at: number;
  readonly step: number;
  readonly attempt: number;
  readonly model?: string | undefined;
  readonly messages: MessageList;
  readonly tools: readonly ToolDefinition[];
}

/** Something that went otherwise than expected and did not keep a section from being used. Observers get it as `prompt.problem`. */
export interface SectionProblem {
  /** A stable word to decide on: `'shortened'`, `'withheld'`, `'collision'` … */
  readonly code: string;
  readonly message: string;
  readonly path?: string | undefined;
}

/** What a section has to say: text, or nothing. */
export type SectionValue =
  | string
  | { readonly text: string; readonly problems?: readonly SectionProblem[] | undefined }
  | null
  | undefined;

/** A piece of the prompt. An empty one is left out without changing a byte. */
export interface PromptSection<Context = FrozenContext> {
  /** Names it in hashes and notices; two sections of a prompt never share one. */
  readonly id: string;
  /** For sections that are made elsewhere: where they belong. A list of another tier refuses them. */
  readonly tier?: SectionTier | undefined;
  /** The text, or how to get it. A function that is slow or fails leaves the section out; it never fails a turn. */
  readonly text: string | ((context: Context) => MaybePromise<SectionValue>);
  /**
   * How long the function may take, in milliseconds, within the deadline that all share.
   *
   * @defaultValue the whole deadline
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How much of what a function says is used, in characters. The rest is cut off with a visible note.
   *
   * @defaultValue `50000`, about 12,000 tokens
   */
  readonly maxChars?: number | undefined;
}

/** A section whose text may change from request to request. */
export interface VolatileSection extends PromptSection<VolatileContext> {
  /**
   * When the function is called: for each request, or for the first one of a turn (memory that is searched for the input).
   *
   * @defaultValue `'request'`
   */
  readonly refresh?: 'request' | 'turn' | undefined;
}

/** A section that a source has found. */
export interface FoundSection {
  readonly id: string;
  readonly text: string;
  /** @defaultValue `'session'` */
  readonly tier?: Exclude<SectionTier, 'frozen'> | undefined;
}

/** Finds sections once a turn: files, say. Those of the session tier stand where the source stands. */
export interface SectionSource {
  readonly id: string;
  readonly load: (context: SessionContext) => MaybePromise<{
    readonly sections: readonly FoundSection[];
    readonly problems?: readonly SectionProblem[] | undefined;
  }>;
  readonly timeoutMs?: number | undefined;
}

declare module '@h/turn' {
  interface TurnEvents {
    /** A section was left out: it took too long, failed, or its name was taken. The turn goes on without it. */
    'prompt.skipped': {
      readonly section: string;
      readonly tier: SectionTier;
      readonly reason: 'timed-out' | 'failed' | 'duplicate';
      readonly message: string;
    };
    /** A section is used, though not as it was found. */
    'prompt.problem': { readonly section: string } & SectionProblem;
  }
}
