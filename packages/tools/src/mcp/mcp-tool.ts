import type { JSONObject, JSONValue, ToolEffect, ToolPaths } from '@h/turn';
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineTool, type Tool, type ToolContext } from '../define-tool.js';
import { ToolError } from '../errors.js';
import { withJsonSchema } from '../input-schema.js';
import { jsonSchemaValidator } from '../json-schema.js';
import { truncate } from '../truncate.js';
import type { McpToolDescription } from './connection.js';
import { effectOf, isIdempotent } from './effects.js';
import { relaxed } from './relaxed-schema.js';
import { outputOf } from './results.js';

/** What decides on the tools of a server besides the server. */
export interface McpToolSettings {
  readonly effects: Readonly<Record<string, ToolEffect>>;
  readonly paths: Readonly<Record<string, ToolPaths>>;
  readonly areAnnotationsUsed: boolean;
  readonly resources: ((tool: string, input: JSONObject) => readonly string[] | undefined) | undefined;
  readonly timeoutMs: number | undefined;
  call(
    tool: string,
    input: JSONObject,
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ): Promise<CallToolResult>;
}

/** How much of a description the model is told. */
const maxDescription = 4_000;

/**
 * A server's tool as one of ours. Its results come from outside, and are never repeated from memory: that a call may be made
 * twice does not mean that it is answered the same.
 */
export const mcpTool = (name: string, description: McpToolDescription, settings: McpToolSettings): Tool => {
  const { annotations } = description;
  const { effects, paths, areAnnotationsUsed, resources, timeoutMs } = settings;
  const given = Object.hasOwn(effects, description.name) ? effects[description.name] : undefined;
  const inputSchema = description.inputSchema as JSONObject;
  const checkOutput = description.outputSchema && jsonSchemaValidator(relaxed(description.outputSchema as JSONObject));
  const run = async (input: JSONObject, context: ToolContext) => {
    const result = await settings.call(description.name, input, context.signal, (progress) =>
      context.progress(progressOf(progress)),
    );
    if (checkOutput !== undefined && result.isError !== true) refuseWrong(checkOutput(result.structuredContent));
    return outputOf(result);
  };
  return defineTool({
    name,
    description: truncate(description.description ?? description.title ?? description.name, {
      maxChars: maxDescription,
    }),
    input: withJsonSchema(standardSchema(relaxed(inputSchema)), inputSchema),
    effect: given ?? (areAnnotationsUsed ? effectOf(annotations) : 'destructive'),
    idempotent: areAnnotationsUsed && isIdempotent(annotations),
    ...(Object.hasOwn(paths, description.name) && { paths: paths[description.name] }),
    volatile: true,
    external: true,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(resources !== undefined && { resources: (input: JSONObject) => resources(description.name, input) }),
    run,
  });
};

/** A JSON Schema as the checker that others bring. */
const standardSchema = (schema: JSONObject): StandardSchemaV1<unknown, JSONObject> => {
  const check = jsonSchemaValidator(schema);
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      validate: (input) => {
        const result = check(input);
        return result.ok
          ? { value: result.value as JSONObject }
          : { issues: result.issues.map((message) => ({ message })) };
      },
    },
  };
};

const progressOf = ({ progress, total, message }: Progress): JSONValue => ({
  progress,
  ...(total !== undefined && { total }),
  ...(message !== undefined && { message }),
});

const refuseWrong = (check: { readonly ok: boolean; readonly issues?: readonly string[] }): void => {
  if (check.ok) return;
  throw new ToolError(
    `The server answered with structured content that does not fit its own schema: ${check.issues?.join('; ')}`,
    { code: 'mcp-invalid-output' },
  );
};
