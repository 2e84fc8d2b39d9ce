import type { JSONObject } from '@h/turn';

/** What a tool of this package uses of the context in which it runs. */
export interface ContinuityToolContext {
  readonly session: string;
  readonly signal: AbortSignal;
}

/** A tool in the shape that `defineTool` of `@h/tools` takes. */
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

/** The JSON Schema of an input. */
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

/** A member of an input that was checked against its schema. */
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
