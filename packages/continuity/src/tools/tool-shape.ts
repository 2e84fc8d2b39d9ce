import type { JSONObject } from '@h/turn';

/** The part of a tool's context that these tools use. */
export interface ContinuityToolContext {
  readonly session: string;
  readonly signal: AbortSignal;
}

/** A tool that `defineTool()` of `@h/tools` accepts. */
export interface ContinuityTool {
  readonly name: string;
  readonly description: string;
  readonly input: JSONObject;
  readonly effect: 'local-write';
  readonly idempotent: boolean;
  readonly volatile: boolean;
  readonly timeoutMs?: number | undefined;
  readonly resources: (input: JSONObject) => readonly string[] | undefined;
  readonly run: (input: JSONObject, context: ContinuityToolContext) => Promise<string>;
}

/** Returns the JSON Schema of an input. */
export const inputOf = (properties: JSONObject, required: readonly string[]): JSONObject => ({
  type: 'object',
  properties,
  required: [...required],
  additionalProperties: false,
});

export const text = (description: string, maxLength: number): JSONObject => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});

/** Reads a string of an input that was validated. */
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
