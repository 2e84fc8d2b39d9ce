import { canonicalJson } from '@h/json';
import { toErrorInfo, type MaybePromise, type ToolCall, type ToolEffect, type ToolOutcome } from '@h/turn';
import type { Tool } from './define-tool.js';
import type { InputCheck } from './json-schema.js';
import { failed, invalidInput, unknownTool } from './outcomes.js';
import type { EffectiveTools } from './toolset.js';

/** A call that is ready to run. */
export interface Job {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly effect: ToolEffect;
  /** The checked input, or a promise of the running check. */
  readonly input: InputCheck | PromiseLike<InputCheck>;
  readonly resources: readonly string[] | undefined;
  /** Equal for calls with interchangeable results; `undefined` for calls that always run. */
  readonly key: string | undefined;
}

/**
 * Prepares a call: a job, or its outcome if it must not run.
 *
 * An asynchronous check is awaited when the call runs, under the deadline of the call. Until then its resources are
 * unknown, so the call runs alone.
 */
export const prepare = (call: ToolCall, tools: EffectiveTools): Job | ToolOutcome => {
  const tool = tools.get(call.name);
  if (tool === undefined) {
    const names = tools.definitions().map(({ name }) => name);
    return unknownTool(call.name, names, tools.suggest(call.name));
  }
  const input = checkedInput(tool, call.input);
  if ('status' in input) return input;
  const { effect } = tool;
  if ('then' in input) {
    // Awaited later: until then a rejection must not count as unhandled.
    input.then(undefined, () => undefined);
    return { call, tool, effect, input, resources: undefined, key: undefined };
  }
  if (!input.ok) return invalidInput(tool.name, input.issues);
  return { call, tool, effect, input, resources: resourcesOf(tool, input.value), key: keyOf(tool, input.value) };
};

/** Returns whether a call was answered without running. */
export const isOutcome = (prepared: Job | ToolOutcome): prepared is ToolOutcome => 'status' in prepared;

const checkedInput = (tool: Tool, input: unknown): MaybePromise<InputCheck> | ToolOutcome => {
  try {
    // Some providers omit the input of a call without arguments.
    return tool.check(input === undefined ? {} : input);
  } catch (error) {
    return checkFailed(tool, error);
  }
};

/** An exception of the schema is a bug of the tool, not of the input. */
export const checkFailed = (tool: Tool, error: unknown): ToolOutcome =>
  failed({
    name: 'ToolError',
    code: 'schema-failed',
    message: `The schema of the tool ${JSON.stringify(tool.name)} failed: ${toErrorInfo(error).message}`,
  });

const resourcesOf = (tool: Tool, input: unknown): readonly string[] | undefined => {
  try {
    return tool.resources(input);
  } catch {
    // A call with unknown resources runs alone and counts as touching everything.
    return undefined;
  }
};

const keyOf = (tool: Tool, input: unknown): string | undefined => {
  if (!tool.idempotent || tool.volatile) return undefined;
  const text = canonicalJson(input);
  return text === undefined ? undefined : `${tool.name} ${text}`;
};
