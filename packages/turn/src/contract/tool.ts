import type { ObservableInput } from 'rxjs';
import type { ErrorInfo } from './error-info.js';
import type { JSONObject, JSONValue } from './json.js';
import type { ProviderOptions, ToolResultOutput } from './messages.js';

/** The effect of a tool on the world, from harmless to irrevocable. */
export type ToolEffect = 'read-only' | 'local-write' | 'network' | 'destructive';

/**
 * The members of a tool's input that name files or folders. An empty object declares that the tool touches no files.
 *
 * A member is a string or a list of strings; `edits.path` is the member `path` of each item of `edits`. A call
 * without the member reaches `root`.
 */
export interface ToolPaths {
  /** The absolute folder that relative paths start from. Without it, only absolute paths can be checked. */
  readonly root?: string | undefined;
  /** Members whose files a call reads. */
  readonly read?: readonly string[] | undefined;
  /** Members whose files a call creates, changes or deletes. */
  readonly write?: readonly string[] | undefined;
}

/** The definition of a tool, as the model sees it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: JSONObject;
  readonly effect?: ToolEffect | undefined;
  /** Running it twice with the same input has the same effect as running it once, so it may run again after a crash. */
  readonly idempotent?: boolean | undefined;
  /** The inputs that are paths, for operators that enforce policies; `undefined` if the tool does not declare them. */
  readonly paths?: ToolPaths | undefined;
  readonly providerOptions?: ProviderOptions | undefined;
}

/** A tool call of the model, with the declarations of its tool. */
export interface ToolCall {
  /** Unique within the turn; the runner renames duplicate ids. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly effect?: ToolEffect | undefined;
  readonly idempotent?: boolean | undefined;
  readonly paths?: ToolPaths | undefined;
}

interface OutcomeBase {
  /** The output for the model. */
  readonly output: ToolResultOutput;
  /** Running time in milliseconds. */
  readonly durationMs?: number | undefined;
  /** Details for observers and user interfaces (a diff, an exit code); never sent to the model. */
  readonly details?: JSONValue | undefined;
}

/** Where the full output of a call is stored. */
export interface ArtifactReference {
  readonly id: string;
  /** Size of the full output, in characters of text or bytes of anything else. */
  readonly size: number;
  readonly mediaType?: string | undefined;
}

/**
 * The outcome of a tool call. The union is closed: each call gets exactly one of these.
 *
 * | status | meaning |
 * |---|---|
 * | `ok` | it ran and the output is complete |
 * | `stored` | it ran, the full output is stored as an artifact, and the model reads a part of it |
 * | `failed` | it ran and threw, or reported an error |
 * | `timed-out` | it exceeded its deadline; a later result is ignored |
 * | `denied` | a policy, a person or a guard denied it; it did not run |
 * | `invalid-input` | its input does not match the schema; it did not run |
 * | `unknown-tool` | the tool does not exist; nothing ran |
 * | `skipped` | it did not run because something else came first (steering, a truncated message) |
 * | `cancelled` | the turn ended before the call did |
 * | `interrupted` | the process died while it may have been running; its outcome is unknown |
 */
export type ToolOutcome =
  | (OutcomeBase & { readonly status: 'ok' })
  | (OutcomeBase & { readonly status: 'stored'; readonly artifact: ArtifactReference })
  | (OutcomeBase & { readonly status: 'failed'; readonly error: ErrorInfo })
  | (OutcomeBase & { readonly status: 'timed-out'; readonly timeoutMs: number })
  | (OutcomeBase & { readonly status: 'denied'; readonly reason: string; readonly by?: string | undefined })
  | (OutcomeBase & { readonly status: 'invalid-input'; readonly issues: readonly string[] })
  | (OutcomeBase & { readonly status: 'unknown-tool'; readonly suggestion?: string | undefined })
  | (OutcomeBase & { readonly status: 'skipped'; readonly reason: string })
  | (OutcomeBase & { readonly status: 'cancelled'; readonly reason: string })
  | (OutcomeBase & { readonly status: 'interrupted'; readonly reason: string });

export type ToolStatus = ToolOutcome['status'];

/** An output of a tool driver: any number of progress reports, and one result for each call. */
export type ToolDriverOutput =
  | { readonly type: 'progress'; readonly id: string; readonly progress: JSONValue }
  | { readonly type: 'result'; readonly id: string; readonly outcome: ToolOutcome };

/** The turn that a tool driver works for. */
export interface ToolRunContext {
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  /**
   * When the turn will be ended, in milliseconds since 1970: the earliest deadline that an operator has set, now.
   * `undefined` without one. It may change while the call runs.
   */
  readonly deadlineAt?: number | undefined;
  /** Aborted when the turn ends or its subscriber leaves. */
  readonly signal: AbortSignal;
  /** Aborted when new input has arrived: answer calls that have not begun as `skipped`; running calls continue. */
  readonly skipSignal: AbortSignal;
}

/**
 * Runs tools.
 *
 * Contract:
 * - `definitions()` returns the same array until the tools change.
 * - `run` is called once per step with all allowed calls, in the order of the model's message. The driver decides
 *   which of them run in parallel.
 * - Each call is answered with exactly one `result`, in any order. The runner answers an unanswered call as `failed`
 *   and ignores a second answer.
 * - Failures are outcomes. An error notification fails the calls that are still open.
 * - Unsubscribing stops everything, child processes and timers included.
 */
export interface ToolDriver {
  definitions(): readonly ToolDefinition[];
  run(calls: readonly ToolCall[], context: ToolRunContext): ObservableInput<ToolDriverOutput>;
}
