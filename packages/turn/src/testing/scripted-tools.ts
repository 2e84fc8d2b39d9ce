import { Observable } from 'rxjs';
import { toErrorInfo } from '../contract/errors.js';
import type { JSONValue } from '../contract/json.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { ToolCall, ToolDefinition, ToolDriver, ToolDriverOutput, ToolOutcome } from '../contract/tool.js';
import { ok } from './builders.js';

/** The context of a scripted tool. */
export interface ScriptedToolContext {
  readonly call: ToolCall;
  readonly signal: AbortSignal;
  progress(value: JSONValue): void;
}

/** A scripted tool: a text or outcome, or a function that returns one; `'never'` never answers. */
export type ScriptedTool =
  | { readonly never: true }
  | ToolOutcome
  | string
  | ((input: unknown, context: ScriptedToolContext) => MaybePromise<string | ToolOutcome>);

/** A tool driver with scripted tools that records its calls. */
export interface ScriptedTools extends ToolDriver {
  /** The calls that ran, in the order in which they started. */
  readonly ran: readonly ToolCall[];
  /** The number of calls in progress. */
  readonly active: number;
}

/**
 * Creates tools from a table. All calls of a step run in parallel; a call of an unknown tool is answered
 * `unknown-tool`.
 *
 * @example
 * ```ts
 * const tools = scriptedTools({ ls: 'a.txt', rm: () => { throw new Error('No.'); } }, { ls: { effect: 'read-only' } });
 * ```
 */
export const scriptedTools = (
  table: Readonly<Record<string, ScriptedTool>>,
  definitions: Readonly<Record<string, Partial<ToolDefinition>>> = {},
): ScriptedTools => {
  const ran: ToolCall[] = [];
  const counts = { active: 0 };
  const offered = Object.keys(table)
    .toSorted()
    .map((name): ToolDefinition => ({
      description: name,
      inputSchema: { type: 'object' },
      ...definitions[name],
      name,
    }));
  return {
    get ran() {
      return ran;
    },
    get active() {
      return counts.active;
    },
    definitions: () => offered,
    run: (calls, { signal }) =>
      new Observable<ToolDriverOutput>((subscriber) => {
        let open = calls.length;
        let running = 0;
        subscriber.add(() => {
          counts.active -= running;
        });
        const answer = (id: string, outcome: ToolOutcome): void => {
          open -= 1;
          subscriber.next({ type: 'result', id, outcome });
          if (open === 0) subscriber.complete();
        };
        for (const call of calls) {
          const tool = Object.hasOwn(table, call.name) ? table[call.name] : undefined;
          if (tool === undefined) {
            answer(call.id, {
              status: 'unknown-tool',
              output: { type: 'error-text', value: `No tool is named ${call.name}.` },
            });
            continue;
          }
          ran.push(call);
          counts.active += 1;
          running += 1;
          const progress = (value: JSONValue): void =>
            subscriber.next({ type: 'progress', id: call.id, progress: value });
          settle(tool, { call, signal, progress }, (outcome) => {
            if (subscriber.closed) return;
            counts.active -= 1;
            running -= 1;
            answer(call.id, outcome);
          });
        }
        if (calls.length === 0) subscriber.complete();
      }),
  };
};

const settle = (tool: ScriptedTool, context: ScriptedToolContext, done: (outcome: ToolOutcome) => void): void => {
  const failed = (thrown: unknown): void => {
    const error = toErrorInfo(thrown);
    done({ status: 'failed', error, output: { type: 'error-text', value: error.message } });
  };
  const finish = (value: string | ToolOutcome): void => done(typeof value === 'string' ? ok(value) : value);
  if (typeof tool === 'object' && 'never' in tool) return;
  if (typeof tool !== 'function') {
    finish(tool);
    return;
  }
  let value: MaybePromise<string | ToolOutcome>;
  try {
    value = tool(context.call.input, context);
  } catch (error) {
    failed(error);
    return;
  }
  if (typeof value === 'object' && 'then' in value) value.then(finish, failed);
  else finish(value);
};
