import { TurnError, type JSONValue } from '@h/turn';
import type { ToolOutputValue } from './define-tool.js';

/** Two tools have one name. */
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

/** There is no toolset of this name. */
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

/** What a {@link ToolError} can say besides its message. */
export interface ToolErrorOptions extends ErrorOptions {
  /** A stable word for what went wrong, for programs. */
  readonly code?: string | undefined;
  /** What the model reads instead of the message. */
  readonly output?: ToolOutputValue | undefined;
  /** More for observers and user interfaces; the model does not see it. */
  readonly details?: JSONValue | undefined;
}

/**
 * Thrown by a tool that failed and has more to say than a message.
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
