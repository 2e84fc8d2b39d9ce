import { LruMap } from '@h/bounded';
import type { ToolDriver, ToolRunContext } from '@h/turn';
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import {
  anyBoolean,
  anyFunction,
  anyOf,
  anyString,
  anyValue,
  arrayOf,
  checkOptions,
  integerFrom,
  numberFrom,
  objectWithMethods,
} from '@h/options';
import { Batch } from './batch.js';
import { checkTool, hasTools, type Tool } from './define-tool.js';
import { LateResults } from './late-results.js';
import { ToolRegistry } from './registry.js';
import { ReplayControl } from './replay-control.js';
import type { ToolsetChoice } from './toolset.js';

/** Time for a last answer: most models begin one within this time. */
const defaultReserveMs = 30_000;

/** Options of {@link toolDriver}. */
export interface ToolDriverOptions extends ToolsetChoice {
  /**
   * Maximum number of concurrent reads.
   *
   * @defaultValue `64`, more than models request in one message
   */
  readonly concurrency?: number | undefined;
  /**
   * Time limit of calls whose tool declares none, in milliseconds. `Infinity` means no limit.
   *
   * @defaultValue `120_000`, what coding agents give a shell command
   */
  readonly timeoutMs?: number | undefined;
  /**
   * When the turn must end, as milliseconds since 1970, or a function that returns it. Each call then gets at most an
   * equal share of the time that remains for its step.
   *
   * @defaultValue the deadline of the turn, which `guardrails({ maxDurationMs })` sets
   */
  readonly deadlineAt?: number | ((context: ToolRunContext) => number | undefined) | undefined;
  /**
   * Time before `deadlineAt` that is reserved for the last model call, in milliseconds.
   *
   * @defaultValue `30_000`; for the deadline of the turn at most a quarter of the time that is left
   */
  readonly reserveMs?: number | undefined;
  /**
   * Whether a repeated idempotent call of a turn is answered with the earlier result.
   *
   * @defaultValue `true`
   */
  readonly replay?: boolean | undefined;
  /**
   * The clock and the timers.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
}

/** A tool driver that the caller owns: pass it to `harness` and to `tools()`. */
export interface RegistryDriver extends ToolDriver {
  /** Calls that succeeded after they had timed out or been cancelled; `tools()` reports them to the model. */
  readonly late: LateResults;
  /** Forgets the replayable results of a turn. Call it when the turn ends, or when files may have changed otherwise. */
  forget(turn: string): void;
}

/** Sessions whose results are remembered. */
const maxSessions = 256;

/**
 * Creates a driver that runs the calls of a step: only tools of the effective set, with checked inputs, reads
 * concurrently and everything else alone, each under its deadline. Every call is answered exactly once with a typed
 * outcome.
 *
 * @throws InvalidOptionError, UnknownToolsetError, UnknownToolError, DuplicateToolError
 *
 * @example
 * ```ts
 * const driver = toolDriver(registry, { toolset: 'read-only', deny: ['mcp__shop__*'] });
 * harness({ model, tools: driver }).pipe(tools({ driver }));
 * ```
 */
export const toolDriver = (source: ToolRegistry | readonly Tool[], options: ToolDriverOptions = {}): RegistryDriver => {
  checkOptions('toolDriver()', options, rules);
  const registry = source instanceof ToolRegistry ? source : new ToolRegistry().register(...toolsOf(source));
  const { concurrency = 64, timeoutMs = 120_000, reserveMs, scheduler = asyncScheduler, replay = true } = options;
  const tools = registry.effective({ toolset: options.toolset, deny: options.deny });
  const late = new LateResults();
  const sessions = new LruMap<string, { readonly turn: string; readonly replay: ReplayControl }>(maxSessions);
  const replayOf = ({ session, turn }: ToolRunContext): ReplayControl => {
    const known = sessions.get(session);
    if (known?.turn === turn) return known.replay;
    const fresh = { turn, replay: new ReplayControl() };
    sessions.set(session, fresh);
    return fresh.replay;
  };
  const deadlineOf = (context: ToolRunContext): number | undefined => {
    const given = typeof options.deadlineAt === 'function' ? options.deadlineAt(context) : options.deadlineAt;
    if (given !== undefined) return given - (reserveMs ?? defaultReserveMs);
    const { deadlineAt } = context;
    if (deadlineAt === undefined) return undefined;
    const leftMs = Math.max(0, deadlineAt - scheduler.now());
    return deadlineAt - (reserveMs ?? Math.min(defaultReserveMs, leftMs / 4));
  };
  return {
    late,
    definitions: () => tools.definitions(),
    forget: (turn) => {
      for (const [session, known] of sessions.entries()) if (known.turn === turn) sessions.delete(session);
    },
    run: (calls, context) =>
      new Observable((subscriber) => {
        const settings = { tools, scheduler, concurrency, timeoutMs, late, deadlineAt: deadlineOf(context) };
        const batch = new Batch({ ...settings, replay: replay ? replayOf(context) : undefined }, context, subscriber);
        subscriber.add(() => batch.stop());
        batch.start(calls);
        if (subscriber.closed) return;
        const cancel = (): void => batch.cancel();
        context.signal.addEventListener('abort', cancel);
        subscriber.add(() => context.signal.removeEventListener('abort', cancel));
      }),
  };
};

/** @throws InvalidOptionError for a value that is not a list of tools, such as a tool set of the AI SDK */
const toolsOf = (source: unknown): readonly Tool[] => {
  if (!Array.isArray(source)) checkTool('toolDriver()', hasTools(source) ? source : firstOf(source));
  for (const tool of source as readonly unknown[]) checkTool('toolDriver()', tool);
  return source as readonly Tool[];
};

/** A record of tools is reported by its first tool. */
const firstOf = (source: unknown): unknown => {
  if (typeof source !== 'object' || source === null) return source;
  const [first] = Object.values(source) as readonly unknown[];
  return typeof first === 'object' && first !== null && !('inputSchema' in source || 'execute' in source)
    ? first
    : source;
};

const rules = {
  toolset: anyValue,
  deny: arrayOf(anyString),
  concurrency: integerFrom(1),
  timeoutMs: numberFrom(1, Infinity),
  deadlineAt: anyOf(numberFrom(0, Infinity), anyFunction),
  reserveMs: numberFrom(0, Infinity),
  replay: anyBoolean,
  scheduler: objectWithMethods('schedule', 'now'),
};
