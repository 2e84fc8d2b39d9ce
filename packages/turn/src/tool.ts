import type { ObservableInput } from 'rxjs';
import * as z from 'zod';
import { errorInfoSchema, type ErrorInfo } from './error-info.js';
import { jsonObjectSchema, jsonValueSchema, type JSONObject, type JSONValue } from './json.js';
import { toolResultOutputSchema, type ProviderOptions, type ToolResultOutput } from './messages.js';

/** What a tool does to the world, from harmless to irrevocable. */
export type ToolEffect = 'read-only' | 'local-write' | 'network' | 'destructive';

/**
 * Which members of a tool's input name files or folders. An empty object declares that the tool touches no files.
 *
 * A member is a string or a list of strings; `edits.path` is the member `path` of each item of `edits`. A call that leaves
 * a member out reaches `root`.
 */
export interface ToolPaths {
  /** Absolute folder that relative paths start from. Without it, only absolute paths can be judged. */
  readonly root?: string | undefined;
  /** Members whose files a call reads. */
  readonly read?: readonly string[] | undefined;
  /** Members whose files a call creates, changes or deletes. */
  readonly write?: readonly string[] | undefined;
}

/** A tool as it is offered to the model. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: JSONObject;
  readonly effect?: ToolEffect | undefined;
  /** Running it twice with one input is as good as running it once: it may run again after a crash. */
  readonly idempotent?: boolean | undefined;
  /** Which inputs are paths, for operators that enforce policies; `undefined` if the tool does not declare them. */
  readonly paths?: ToolPaths | undefined;
  readonly providerOptions?: ProviderOptions | undefined;
}

/** A call that the model asks for, with what its tool declares about itself. */
export interface ToolCall {
  /** Unique within the turn; the runner renames an id that a provider gives twice. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly effect?: ToolEffect | undefined;
  readonly idempotent?: boolean | undefined;
  readonly paths?: ToolPaths | undefined;
}

interface OutcomeBase {
  /** What the model reads. */
  readonly output: ToolResultOutput;
  /** How long the tool ran, in milliseconds. */
  readonly durationMs?: number | undefined;
  /** More for observers and user interfaces (a diff, an exit code); never sent to the model. */
  readonly details?: JSONValue | undefined;
}

/** Where the full output of a call is kept. */
export interface ArtifactReference {
  readonly id: string;
  /** Size of the full output, in characters of text or bytes of anything else. */
  readonly size: number;
  readonly mediaType?: string | undefined;
}

/**
 * How a tool call ended. The union is closed: each call gets exactly one of these.
 *
 * | status | meaning |
 * |---|---|
 * | `ok` | it ran, the output is complete |
 * | `stored` | it ran, the full output is kept as an artifact and the model reads a part |
 * | `failed` | it ran and threw, or reported an error |
 * | `timed-out` | it outlived its deadline; what it still does changes nothing in the turn |
 * | `denied` | a policy, a person or a guard refused it; it did not run |
 * | `invalid-input` | its input does not fit the schema; it did not run |
 * | `unknown-tool` | no such tool is offered; nothing ran |
 * | `skipped` | it did not run because something else came first (steering, a truncated message) |
 * | `cancelled` | the turn ended before it was done |
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

const outcomeBase = {
  output: toolResultOutputSchema,
  durationMs: z.number().nonnegative().optional(),
  details: jsonValueSchema.optional(),
};
const reason = z.string();

export const toolOutcomeSchema = z.discriminatedUnion('status', [
  z.object({ ...outcomeBase, status: z.literal('ok') }),
  z.object({
    ...outcomeBase,
    status: z.literal('stored'),
    artifact: z.object({ id: z.string(), size: z.number().nonnegative(), mediaType: z.string().optional() }),
  }),
  z.object({ ...outcomeBase, status: z.literal('failed'), error: errorInfoSchema }),
  z.object({ ...outcomeBase, status: z.literal('timed-out'), timeoutMs: z.number().nonnegative() }),
  z.object({ ...outcomeBase, status: z.literal('denied'), reason, by: z.string().optional() }),
  z.object({ ...outcomeBase, status: z.literal('invalid-input'), issues: z.array(z.string()) }),
  z.object({ ...outcomeBase, status: z.literal('unknown-tool'), suggestion: z.string().optional() }),
  z.object({ ...outcomeBase, status: z.literal('skipped'), reason }),
  z.object({ ...outcomeBase, status: z.literal('cancelled'), reason }),
  z.object({ ...outcomeBase, status: z.literal('interrupted'), reason }),
]) as unknown as z.ZodType<ToolOutcome>;

const toolPathsSchema: z.ZodType<ToolPaths> = z.object({
  root: z.string().optional(),
  read: z.array(z.string()).optional(),
  write: z.array(z.string()).optional(),
});

export const toolDefinitionSchema: z.ZodType<ToolDefinition> = z.object({
  name: z.string().min(1),
  description: z.string(),
  inputSchema: jsonObjectSchema,
  effect: z.enum(['read-only', 'local-write', 'network', 'destructive']).optional(),
  idempotent: z.boolean().optional(),
  paths: toolPathsSchema.optional(),
  providerOptions: z.record(z.string(), jsonObjectSchema).optional(),
});

export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  input: z.unknown().optional(),
  effect: z.enum(['read-only', 'local-write', 'network', 'destructive']).optional(),
  idempotent: z.boolean().optional(),
  paths: toolPathsSchema.optional(),
}) as unknown as z.ZodType<ToolCall>;

/** What a tool driver says while it works: progress as often as it likes, and one result for each call. */
export type ToolDriverOutput =
  | { readonly type: 'progress'; readonly id: string; readonly progress: JSONValue }
  | { readonly type: 'result'; readonly id: string; readonly outcome: ToolOutcome };

/** What a tool driver may know about the turn it works for. */
export interface ToolRunContext {
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  /** Aborted when the turn ends or its subscriber leaves. */
  readonly signal: AbortSignal;
  /** Aborted when new input has arrived: calls that have not begun are to be answered `skipped`; running ones go on. */
  readonly skipSignal: AbortSignal;
}

/**
 * Runs tools.
 *
 * Contract:
 * - `definitions()` returns the same array until the tools change.
 * - `run` is called once a step with all calls that were allowed, in the order of the model's message; what may run
 *   together is the driver's decision.
 * - Each call is answered with exactly one `result`; results may come in any order. The runner answers `failed` for
 *   a call that is left unanswered and ignores a second answer.
 * - Failures are outcomes. An error notification fails the calls that are still open.
 * - Unsubscribing stops everything, children and timers included.
 */
export interface ToolDriver {
  definitions(): readonly ToolDefinition[];
  run(calls: readonly ToolCall[], context: ToolRunContext): ObservableInput<ToolDriverOutput>;
}
