import { schemaValidator } from '@h/json/schema';
import type { JSONObject, JSONValue, ToolEffect, ToolPaths } from '@h/turn';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineTool, type Tool, type ToolContext } from '../define-tool.js';
import { ToolError } from '../errors.js';
import { withJsonSchema } from '../input-schema.js';
import { jsonSchemaValidator } from '../json-schema.js';
import { truncate } from '../truncate.js';
import type { LinkCall, McpToolDescription } from './tool-request.js';
import { effectOf, isIdempotent } from './effects.js';
import { outputOf } from './results.js';

/** Settings for the tools of a server. */
export interface McpToolSettings {
  readonly effects: Readonly<Record<string, ToolEffect>>;
  readonly paths: Readonly<Record<string, ToolPaths>>;
  readonly areAnnotationsUsed: boolean;
  readonly resources: ((tool: string, input: JSONObject) => readonly string[] | undefined) | undefined;
  readonly timeoutMs: number | undefined;
  call(call: LinkCall): Promise<CallToolResult>;
}

/** Maximum length of a description. */
const maxDescription = 4_000;

/**
 * Converts a tool of a server. Its results are external and never replayed, because even an idempotent call may return
 * another result the next time.
 */
export const mcpTool = (name: string, description: McpToolDescription, settings: McpToolSettings): Tool => {
  const { annotations } = description;
  const { effects, paths, areAnnotationsUsed, resources, timeoutMs } = settings;
  const given = Object.hasOwn(effects, description.name) ? effects[description.name] : undefined;
  const inputSchema = description.inputSchema as JSONObject;
  const checkOutput = description.outputSchema && checkOf(description.outputSchema as JSONObject);
  const effect = given ?? (areAnnotationsUsed ? effectOf(annotations) : 'destructive');
  // An effect of the user contradicts a server that calls its tool read-only.
  const hints = given === undefined || given === 'read-only' ? annotations : { ...annotations, readOnlyHint: false };
  const idempotent = areAnnotationsUsed && isIdempotent(hints);
  const run = async (input: JSONObject, context: ToolContext) => {
    const { call, turn, session, signal } = context;
    const result = await settings.call({
      description,
      tool: description.name,
      input,
      call,
      turn,
      session,
      signal,
      // As in a resume, only these calls run again.
      isRepeatable: effect === 'read-only' || idempotent,
      onProgress: (progress) => context.progress(progressOf(progress)),
    });
    if (checkOutput !== undefined && result.isError !== true) refuseWrong(checkOutput(result.structuredContent));
    return outputOf(result);
  };
  return defineTool({
    name,
    description: truncate(description.description ?? description.title ?? description.name, {
      maxChars: maxDescription,
    }),
    input: withJsonSchema(standardSchema(inputSchema), inputSchema),
    effect,
    idempotent,
    ...(Object.hasOwn(paths, description.name) && { paths: paths[description.name] }),
    volatile: true,
    external: true,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(resources !== undefined && { resources: (input: JSONObject) => resources(description.name, input) }),
    run,
  });
};

/**
 * Checks values against a schema of the server, without its regular expressions: one with exponential time would block
 * the whole process. What is wrong with the schema is ignored, because the server checks its input itself.
 */
const checkOf = (schema: JSONObject): ReturnType<typeof jsonSchemaValidator> => {
  let check: ReturnType<typeof jsonSchemaValidator> | undefined;
  return (input) => {
    // On first use: a server may list thousands of tools, of which few are called.
    check ??= jsonSchemaValidator(schema, schemaValidator(schema, { hasPatterns: false }));
    return check(input);
  };
};

/** Wraps a JSON Schema as a Standard Schema. */
const standardSchema = (schema: JSONObject): StandardSchemaV1<unknown, JSONObject> => {
  const check = checkOf(schema);
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

const progressOf = ({ progress, total, message }: Parameters<LinkCall['onProgress']>[0]): JSONValue => ({
  ...(progress !== undefined && { progress }),
  ...(total !== undefined && { total }),
  ...(message !== undefined && { message }),
});

const refuseWrong = (check: { readonly ok: boolean; readonly issues?: readonly string[] }): void => {
  if (check.ok) return;
  throw new ToolError(
    `The structured content of the server does not match its own output schema: ${check.issues?.join('; ')}`,
    { code: 'mcp-invalid-output' },
  );
};
