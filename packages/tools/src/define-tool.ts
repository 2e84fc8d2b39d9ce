import { isAbsolute } from 'node:path';
import {
  anyBoolean,
  anyFunction,
  anyString,
  anyValue,
  arrayOf,
  checkOptions,
  InvalidOptionError,
  nonEmptyString,
  objectOf,
  oneOf,
  required,
  showValue,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
import type { JSONValue, MaybePromise, ToolDefinition, ToolEffect, ToolPaths, ToolResultContentPart } from '@h/turn';
import { inputChecker, type InferToolInput, type ToolInput } from './input-schema.js';
import type { InputCheck } from './json-schema.js';

/** Context of a running call. Pass it on as it is: a spread copy has no `signal`. */
export interface ToolContext {
  readonly call: { readonly id: string; readonly name: string };
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  /** Aborted when the call times out, the turn ends or its subscriber unsubscribes. Stop and clean up. */
  readonly signal: AbortSignal;
  /** When the call times out, as milliseconds since 1970. */
  readonly deadlineAt?: number | undefined;
  /** Emits `tool.progress`. Has no effect after the call has ended. */
  progress(value: JSONValue): void;
}

/** Output for the model: text, JSON, or parts such as images and files. */
export type ToolOutputValue = string | JSONValue | readonly ToolResultContentPart[];

/** A result with details or an error flag, created by {@link toolOutput}. */
export interface ToolOutput {
  readonly [richOutput]: true;
  readonly output: ToolOutputValue;
  readonly details?: JSONValue | undefined;
  readonly isError?: boolean | undefined;
}

/** Result of `run`. Report an error by throwing it, or with `toolOutput({ …, isError: true })`. */
export type ToolReturn = string | JSONValue | ToolOutput;

/** Options of {@link defineTool}. */
export interface ToolOptions<Input extends ToolInput> {
  /** 1 to 64 letters, digits, `_` and `-`: providers accept nothing else. */
  readonly name: string;
  /** Tells the model what the tool does and when to call it. */
  readonly description: string;
  /** A zod schema, another Standard Schema that converts to JSON Schema, or a JSON Schema. */
  readonly input: Input;
  /** What the tool does to the world. Only `read-only` calls run together. */
  readonly effect: ToolEffect;
  /**
   * Returns the resources that a call touches, as normalized keys (`file:/abs/path`). A key covers everything below it
   * (`file:/abs` covers `file:/abs/path`). `[]`: nothing that another tool could change. `undefined`: unknown, so the
   * call runs alone and counts as touching everything.
   */
  readonly resources?: ((input: InferToolInput<Input>) => readonly string[] | undefined) | undefined;
  /**
   * Which members of the input are paths of files or folders, so that a policy on paths can judge calls. `{}` declares
   * that the tool touches no files. `policyGuard` of `@h/subagents` denies a tool without this declaration if its
   * policy limits paths.
   *
   * @example
   * ```ts
   * defineTool({ name: 'copy', paths: { root: '/repo', read: ['from'], write: ['to'] }, ...rest });
   * ```
   */
  readonly paths?: ToolPaths | undefined;
  /**
   * Whether a second call with the same input changes nothing: it may be answered with the result of the first one, and
   * a call may run again after a crash.
   *
   * @defaultValue `false`
   */
  readonly idempotent?: boolean | undefined;
  /**
   * Whether two calls may have different results although no tool changed anything (a clock, a poll, a remote list).
   * Such a call always runs, even if it is idempotent.
   *
   * @defaultValue `false`
   */
  readonly volatile?: boolean | undefined;
  /**
   * Time limit of a call, in milliseconds.
   *
   * @defaultValue the driver's `timeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether results come from outside (the web, a mailbox, an MCP server) and may contain injected instructions. Each
   * result then has `details.external: true`, and `@h/security` wraps it.
   *
   * @defaultValue `false`
   */
  readonly external?: boolean | undefined;
  /** Runs a call whose input is valid. An error that it throws becomes a failed result, which the model reads. */
  readonly run: (input: InferToolInput<Input>, context: ToolContext) => MaybePromise<ToolReturn>;
}

/** A tool for a registry or a driver, created by {@link defineTool}. */
export interface Tool {
  readonly name: string;
  /** The definition that the model receives. */
  readonly definition: ToolDefinition;
  readonly effect: ToolEffect;
  readonly idempotent: boolean;
  readonly volatile: boolean;
  readonly external: boolean;
  readonly timeoutMs?: number | undefined;
  /** Checks an input of the model and returns the copy for `resources` and `run`. */
  check(input: unknown): MaybePromise<InputCheck>;
  /** Returns the resources that a call with this checked input touches; `undefined` if they are unknown. */
  resources(input: unknown): readonly string[] | undefined;
  run(input: unknown, context: ToolContext): MaybePromise<ToolReturn>;
}

const richOutput: unique symbol = Symbol.for('@h/tools/output');

/**
 * Creates a result with details or an error flag.
 *
 * @example
 * ```ts
 * return toolOutput({ output: 'Saved.', details: { bytes: 120 } });
 * ```
 */
export const toolOutput = (result: {
  readonly output: ToolOutputValue;
  readonly details?: JSONValue | undefined;
  readonly isError?: boolean | undefined;
}): ToolOutput => ({ [richOutput]: true, ...result });

/** Returns whether a value was created by {@link toolOutput}. */
export const isToolOutput = (value: unknown): value is ToolOutput =>
  typeof value === 'object' && value !== null && richOutput in value;

/**
 * Defines a tool: its description for the model, its effect, and the function that runs.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   effect: 'read-only',
 *   resources: () => [],
 *   run: ({ a, b }) => a + b,
 * });
 * ```
 */
export const defineTool = <const Input extends ToolInput>(options: ToolOptions<Input>): Tool => {
  checkToolOptions(options);
  const { name, description, effect, idempotent = false, volatile = false, external = false, timeoutMs } = options;
  const checker = inputChecker(name, options.input);
  return {
    name,
    effect,
    idempotent,
    volatile,
    external,
    ...(timeoutMs !== undefined && { timeoutMs }),
    definition: {
      name,
      description,
      inputSchema: checker.jsonSchema,
      effect,
      idempotent,
      ...(options.paths !== undefined && { paths: options.paths }),
    },
    check: (input) => checker.check(input),
    resources: (input) => options.resources?.(input as InferToolInput<Input>),
    run: (input, context) => options.run(input as InferToolInput<Input>, context),
  };
};

/** Tool names that providers accept. */
export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;

const effects = ['read-only', 'local-write', 'network', 'destructive'] as const satisfies readonly ToolEffect[];

const toolName: OptionCheck = {
  expected: '1 to 64 letters, digits, "_" and "-"',
  accepts: (name) => typeof name === 'string' && toolNamePattern.test(name),
};

const numberAbove0: OptionCheck = {
  expected: 'a number above 0',
  accepts: (value) => typeof value === 'number' && value > 0,
};

const absolutePath: OptionCheck = {
  expected: 'an absolute path',
  accepts: (path) => typeof path === 'string' && isAbsolute(path),
};

const checks: OptionChecks<ToolOptions<ToolInput>> = {
  name: required(toolName),
  description: required(anyString),
  input: required({ ...anyValue, expected: 'a schema of zod or a JSON Schema' }),
  effect: required(oneOf(...effects)),
  resources: anyFunction,
  paths: objectOf({ root: absolutePath, read: arrayOf(nonEmptyString), write: arrayOf(nonEmptyString) }),
  idempotent: anyBoolean,
  volatile: anyBoolean,
  timeoutMs: numberAbove0,
  external: anyBoolean,
  run: required(anyFunction),
};

/** Maps option names of AI SDK tools to the names used here. */
const aiSdkNames: Readonly<Record<string, string>> = { inputSchema: 'input', parameters: 'input', execute: 'run' };

const checkToolOptions = (options: ToolOptions<ToolInput>): void => {
  const name = (options as { readonly name?: unknown } | undefined)?.name;
  const owner = typeof name === 'string' ? `defineTool(${JSON.stringify(name.slice(0, 64))})` : 'defineTool()';
  for (const [given, own] of Object.entries(aiSdkNames)) {
    if (typeof options !== 'object' || options === null || !(given in options)) continue;
    const message = `${owner}: unknown option "${given}"; it is called "${own}" here.`;
    throw new InvalidOptionError({ owner, option: given, message });
  }
  checkOptions(owner, options, checks);
};

/**
 * Checks that a value is a tool created by {@link defineTool}.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkTool = (owner: string, value: unknown): void => {
  const tool = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  if (typeof tool['check'] === 'function' && typeof tool['run'] === 'function' && 'definition' in tool) return;
  const isOfAiSdk = 'inputSchema' in tool || 'parameters' in tool || 'execute' in tool;
  const what = isOfAiSdk ? 'a tool of the AI SDK' : hasTools(value) ? 'a module with tools' : showValue(value);
  const fix = isOfAiSdk
    ? 'wrap it: defineTool({ name, description, input: inputSchema, effect, run: execute })'
    : hasTools(value)
      ? 'pass its "tools", or register it: toolDriver(createRegistry().register(module))'
      : 'use defineTool()';
  const message = `${owner}: "tools" must be tools that defineTool() made; received ${what}. To fix this, ${fix}.`;
  throw new InvalidOptionError({ owner, option: 'tools', message });
};

/** Whether a value has a list of tools, as modules do. */
export const hasTools = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'tools' in value && Array.isArray(value.tools);
