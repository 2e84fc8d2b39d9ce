import type { JSONObject } from '@h/turn';
import type { McpServer as Connection } from '@h/tools/mcp';
import { ProtocolError, type McpServer, type ServerCapabilities } from '@modelcontextprotocol/server';

/** The methods that are passed on, by the capability that they need. */
const methods = {
  resources: ['resources/list', 'resources/templates/list', 'resources/read'],
  prompts: ['prompts/list', 'prompts/get'],
  completions: ['completion/complete'],
} as const;

/** Returns the capabilities of the server that are passed on. */
export const passedCapabilities = ({ capabilities }: Connection): ServerCapabilities =>
  Object.fromEntries(
    Object.keys(methods)
      .filter((name) => capabilities?.[name as keyof typeof methods] !== undefined)
      .map((name) => [name, {}]),
  );

/**
 * Passes requests for resources, prompts and completions on to the server behind the guard.
 *
 * @param redact - replaces secrets in a result or an error
 */
export const passThrough = (
  { server }: McpServer,
  capabilities: ServerCapabilities,
  connection: Connection,
  redact: <Value>(value: Value) => Value,
): void => {
  for (const [capability, names] of Object.entries(methods)) {
    if (capabilities[capability as keyof typeof methods] === undefined) continue;
    for (const method of names) {
      server.setRequestHandler(method, async ({ params = {} }, { mcpReq }) => {
        const { _meta, ...rest } = params as JSONObject;
        try {
          const result = await connection.request(method, rest, mcpReq.signal);
          // The server of the SDK checks the result of each method.
          return redact(result) as never;
        } catch (error) {
          throw redactedError(error, redact);
        }
      });
    }
  }
};

const redactedError = (error: unknown, redact: <Value>(value: Value) => Value): Error => {
  if (ProtocolError.isInstance(error)) {
    return ProtocolError.fromError(error.code, redact(error.message), redact(error.data));
  }
  return new Error(redact(error instanceof Error ? error.message : String(error)), { cause: error });
};
