import { TurnError, type JSONValue } from '@h/turn';
import type { ToolOutputValue } from './define-tool.js';

/** Two tools have the same name. */
export class DuplicateToolError extends TurnError {
  readonly tool: string;

  constructor(tool: string) {
    super(
      'duplicate-tool',
      `The tool ${JSON.stringify(tool)} is registered already; rename one of the two, or unregister the first.`,
    );
    this.tool = tool;
  }
}

/** A list of tools names one that is not registered. */
export class UnknownToolError extends TurnError {
  readonly tool: string;

  constructor(tool: string, where: string, suggestion?: string) {
    const hint =
      suggestion === undefined
        ? 'register it first, or take the name out'
        : `did you mean ${JSON.stringify(suggestion)}?`;
    super('unknown-tool', `${where} names the tool ${JSON.stringify(tool)}, which is not registered: ${hint}`);
    this.tool = tool;
  }
}

/** The toolset does not exist. */
export class UnknownToolsetError extends TurnError {
  readonly toolset: string;

  constructor(toolset: string, known: readonly string[]) {
    super(
      'unknown-toolset',
      `There is no toolset ${JSON.stringify(toolset)}; known are ${known.map((name) => JSON.stringify(name)).join(', ')}.`,
    );
    this.toolset = toolset;
  }
}

/** Options of {@link ToolError}. */
export interface ToolErrorOptions extends ErrorOptions {
  /** A stable, machine-readable code of the failure. */
  readonly code?: string | undefined;
  /** Output for the model in place of the message. */
  readonly output?: ToolOutputValue | undefined;
  /** Details for observers and user interfaces; the model does not receive them. */
  readonly details?: JSONValue | undefined;
}

/**
 * An error of a tool with an output for the model, details or a code.
 *
 * @example
 * ```ts
 * throw new ToolError('The command failed.', { code: 'exit', output: log, details: { exitCode: 2 } });
 * ```
 */
export class ToolError extends TurnError {
  readonly output: ToolOutputValue | undefined;
  readonly details: JSONValue | undefined;

  constructor(message: string, options: ToolErrorOptions = {}) {
    super(options.code ?? 'tool-failed', message, options);
    this.output = options.output;
    this.details = options.details;
  }
}
