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
import { inputChecker, type InferToolInput, type InputCheck, type ToolInput } from './input-schema.js';

/** What a tool may know and use while it runs. To be handed on as it is: a spread of it has no `signal`. */
export interface ToolContext {
  readonly call: { readonly id: string; readonly name: string };
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  /** Aborted when the call's time is up, the turn ends or its subscriber leaves. Stop what you do and clean up. */
  readonly signal: AbortSignal;
  /** When the call is given up, as milliseconds since 1970. */
  readonly deadlineAt?: number | undefined;
  /** Tells whoever watches how far the call is. Says nothing once the call is over. */
  progress(value: JSONValue): void;
}

/** What the model reads: text, JSON, or parts with images and files among them. */
export type ToolOutputValue = string | JSONValue | readonly ToolResultContentPart[];

/** A result with more to say than its output. Made by {@link toolOutput}. */
export interface ToolOutput {
  readonly [richOutput]: true;
  readonly output: ToolOutputValue;
  readonly details?: JSONValue | undefined;
  readonly isError?: boolean | undefined;
}

/** What `run` answers. An error is thrown, or told by `toolOutput({ …, isError: true })`. */
export type ToolReturn = string | JSONValue | ToolOutput;

/** How a tool is written down for {@link defineTool}. */
export interface ToolOptions<Input extends ToolInput> {
  /** 1 to 64 letters, digits, `_` and `-`, because providers accept no others. */
  readonly name: string;
  readonly description: string;
  /** A zod schema, any other Standard Schema that can write itself as JSON Schema, or a JSON Schema. */
  readonly input: Input;
  /** What the tool does to the world. Only `read-only` calls run together. */
  readonly effect: ToolEffect;
  /**
   * What a call touches, as normalised keys (`file:/abs/path`). A key covers all that lies below it (`file:/abs` covers
   * `file:/abs/path`). `[]` says that the call touches nothing that another tool could change; `undefined` that nobody
   * knows: then it runs alone and counts as touching everything.
   */
  readonly resources?: ((input: InferToolInput<Input>) => readonly string[] | undefined) | undefined;
  /**
   * Which members of the input are paths of files or folders, so that a policy on paths can judge calls. `{}` declares that
   * the tool touches no files. `policyGuard` of `@h/subagents` denies a tool without this declaration if its policy limits
   * paths.
   *
   * @example
   * ```ts
   * defineTool({ name: 'copy', paths: { root: '/repo', read: ['from'], write: ['to'] }, ...rest });
   * ```
   */
  readonly paths?: ToolPaths | undefined;
  /**
   * Running it twice with one input is as good as running it once: a second call may be answered with the first one's
   * result, and a call may run again after a crash.
   *
   * @defaultValue `false`
   */
  readonly idempotent?: boolean | undefined;
  /**
   * Two calls may be answered differently although nothing that the driver knows of has changed (a clock, a poll, a
   * remote list): a call always runs, even where it is idempotent.
   *
   * @defaultValue `false`
   */
  readonly volatile?: boolean | undefined;
  /**
   * How long a call may take, in milliseconds.
   *
   * @defaultValue the driver's `timeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Results come from outside (the web, a mailbox, an MCP server) and may hold instructions that are nobody's. Each result
   * then has `details.external: true`, which tells `@h/security` to wrap it.
   *
   * @defaultValue `false`
   */
  readonly external?: boolean | undefined;
  readonly run: (input: InferToolInput<Input>, context: ToolContext) => MaybePromise<ToolReturn>;
}

/** A tool that can be registered. Made by {@link defineTool}. */
export interface Tool {
  readonly name: string;
  /** What the model is told. */
  readonly definition: ToolDefinition;
  readonly effect: ToolEffect;
  readonly idempotent: boolean;
  readonly volatile: boolean;
  readonly external: boolean;
  readonly timeoutMs?: number | undefined;
  /** Checks an input as the model wrote it, and gives the copy that `resources` and `run` take. */
  check(input: unknown): MaybePromise<InputCheck>;
  /** What a call with this checked input touches; `undefined` when nobody knows. */
  resources(input: unknown): readonly string[] | undefined;
  run(input: unknown, context: ToolContext): MaybePromise<ToolReturn>;
}

const richOutput: unique symbol = Symbol.for('@h/tools/output');

/**
 * A result that is more than text or JSON.
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

/** Whether this was made by {@link toolOutput}. */
export const isToolOutput = (value: unknown): value is ToolOutput =>
  typeof value === 'object' && value !== null && richOutput in value;

/**
 * Describes a tool: what the model is told, what its calls may do to the world, and what runs.
 *
 * @throws InvalidOptionError when an option is missing, unknown or has no sense.
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

/** What providers accept as the name of a tool. */
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
  input: required(anyValue),
  effect: required(oneOf(...effects)),
  resources: anyFunction,
  paths: objectOf({ root: absolutePath, read: arrayOf(nonEmptyString), write: arrayOf(nonEmptyString) }),
  idempotent: anyBoolean,
  volatile: anyBoolean,
  timeoutMs: numberAbove0,
  external: anyBoolean,
  run: required(anyFunction),
};

/** Options of a tool of the AI SDK, by the name that they have here. */
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
 * Checks that a value is a tool that {@link defineTool} made.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkTool = (owner: string, value: unknown): void => {
  const tool = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  if (typeof tool['check'] === 'function' && typeof tool['run'] === 'function' && 'definition' in tool) return;
  const isOfAiSdk = 'inputSchema' in tool || 'parameters' in tool || 'execute' in tool;
  const what = isOfAiSdk ? 'a tool of the AI SDK' : showValue(value);
  const fix = isOfAiSdk
    ? 'wrap it: defineTool({ name, description, input: inputSchema, effect, run: execute })'
    : 'use defineTool()';
  const message = `${owner}: "tools" must be tools that defineTool() made; received ${what}. To fix this, ${fix}.`;
  throw new InvalidOptionError({ owner, option: 'tools', message });
};
