import type { JSONValue, MaybePromise, ToolDefinition, ToolEffect, ToolResultContentPart } from '@h/turn';
import { ToolConfigurationError } from './errors.js';
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
 * @throws ToolConfigurationError when an option is missing, unknown or has no sense.
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
  checkOptions(options);
  const { name, description, effect, idempotent = false, volatile = false, external = false, timeoutMs } = options;
  const checker = inputChecker(name, options.input);
  return {
    name,
    effect,
    idempotent,
    volatile,
    external,
    ...(timeoutMs !== undefined && { timeoutMs }),
    definition: { name, description, inputSchema: checker.jsonSchema, effect, idempotent },
    check: (input) => checker.check(input),
    resources: (input) => options.resources?.(input as InferToolInput<Input>),
    run: (input, context) => options.run(input as InferToolInput<Input>, context),
  };
};

/** What providers accept as the name of a tool. */
export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;

const effects: readonly unknown[] = ['read-only', 'local-write', 'network', 'destructive'] satisfies ToolEffect[];

const known: readonly string[] = [
  'name',
  'description',
  'input',
  'effect',
  'resources',
  'idempotent',
  'volatile',
  'timeoutMs',
  'external',
  'run',
] satisfies (keyof ToolOptions<ToolInput>)[];

const checkOptions = (options: ToolOptions<ToolInput>): void => {
  const refuse = (option: string, expected: string): never => {
    const value = (options as unknown as Record<string, unknown>)[option];
    throw new ToolConfigurationError(
      option,
      `The ${option} of the tool ${JSON.stringify(options.name)} is ${JSON.stringify(value)}; ${expected}`,
    );
  };
  if (typeof options.name !== 'string' || !toolNamePattern.test(options.name)) {
    refuse('name', 'it takes 1 to 64 letters, digits, "_" and "-".');
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) refuse(key, `a tool has no such option, only ${known.join(', ')}.`);
  }
  if (typeof options.description !== 'string') refuse('description', 'it has to be text.');
  if (!effects.includes(options.effect)) refuse('effect', `it has to be one of ${effects.join(', ')}.`);
  if (typeof options.run !== 'function') refuse('run', 'it has to be a function.');
  const { timeoutMs } = options;
  if (timeoutMs !== undefined && !(timeoutMs > 0)) refuse('timeoutMs', 'it has to be more than 0 milliseconds.');
};
