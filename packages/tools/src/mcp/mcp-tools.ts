import { toErrorInfo } from '@h/turn';
import type { Tool } from '../define-tool.js';
import type { McpToolDescription } from './tool-request.js';
import { mcpTool, type McpToolSettings } from './mcp-tool.js';
import { qualifiedNames } from './names.js';

/** A tool and the description that it was made from. */
export interface OfferedTool {
  readonly tool: Tool;
  readonly description: McpToolDescription;
}

/**
 * Creates a function that converts the tool list of a server. An unchanged entry returns the same tool again. A tool
 * that cannot be offered is omitted and reported once.
 */
export const toolMaker = (
  server: string,
  settings: McpToolSettings,
  problem: (error: Error) => void,
): ((descriptions: readonly McpToolDescription[]) => readonly OfferedTool[]) => {
  const known = new Map<string, { readonly key: string; readonly tool: Tool | undefined }>();
  const make = (name: string, description: McpToolDescription): Tool | undefined => {
    const key = JSON.stringify(description);
    const before = known.get(name);
    if (before?.key === key) return before.tool;
    let tool: Tool | undefined;
    try {
      if (description.execution?.taskSupport === 'required') {
        throw new Error('the server runs it only as a task, which is not supported');
      }
      tool = mcpTool(name, description, settings);
    } catch (error) {
      const what = `The tool ${JSON.stringify(description.name)} of the MCP server ${JSON.stringify(server)} cannot be offered`;
      problem(new Error(`${what}: ${toErrorInfo(error).message}`, { cause: error }));
    }
    known.set(name, { key, tool });
    return tool;
  };
  return (descriptions) => {
    const names = qualifiedNames(
      server,
      descriptions.map(({ name }) => name),
    );
    const tools = new Map<string, OfferedTool>();
    for (const description of descriptions) {
      const name = names.get(description.name) as string;
      const tool = tools.has(name) ? undefined : make(name, description);
      if (tool !== undefined) tools.set(name, { tool, description });
    }
    return [...tools.values()];
  };
};
