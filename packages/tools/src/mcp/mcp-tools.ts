import { toErrorInfo } from '@h/turn';
import type { Tool } from '../define-tool.js';
import type { McpToolDescription } from './tool-request.js';
import { mcpTool, type McpToolSettings } from './mcp-tool.js';
import { qualifiedNames } from './names.js';

/** Maximum number of characters of an input schema, which each model call contains. */
const maxSchema = 200_000;

/** A tool and the description that it was made from. */
export interface OfferedTool {
  readonly tool: Tool;
  readonly description: McpToolDescription;
}

/**
 * Creates a function that converts the tool list of a server. An unchanged entry returns the same tool again. A tool
 * that cannot be offered is omitted and reported once, until a list omits it.
 */
export const toolMaker = (
  server: string,
  settings: McpToolSettings,
  problem: (error: Error) => void,
): ((descriptions: readonly McpToolDescription[]) => readonly OfferedTool[]) => {
  /** The tools of the last list. */
  let known: ReadonlyMap<string, Known> = new Map();
  const make = (name: string, description: McpToolDescription): Known => {
    const key = JSON.stringify(description);
    const before = known.get(name);
    if (before?.key === key) return before;
    let tool: Tool | undefined;
    try {
      if (description.execution?.taskSupport === 'required') {
        throw new Error('the server runs it only as a task, which is not supported');
      }
      const size = JSON.stringify(description.inputSchema).length;
      if (size > maxSchema) {
        throw new Error(`its input schema has ${size} characters; at most ${maxSchema} are accepted`);
      }
      tool = mcpTool(name, description, settings);
    } catch (error) {
      const what = `The tool ${JSON.stringify(description.name)} of the MCP server ${JSON.stringify(server)} cannot be offered`;
      problem(new Error(`${what}: ${toErrorInfo(error).message}`, { cause: error }));
    }
    return { key, tool };
  };
  return (descriptions) => {
    const names = qualifiedNames(
      server,
      descriptions.map(({ name }) => name),
    );
    const tools = new Map<string, OfferedTool>();
    const made = new Map<string, Known>();
    for (const description of descriptions) {
      const name = names.get(description.name) as string;
      if (tools.has(name)) continue;
      const entry = make(name, description);
      made.set(name, entry);
      if (entry.tool !== undefined) tools.set(name, { tool: entry.tool, description });
    }
    known = made;
    return [...tools.values()];
  };
};

interface Known {
  /** The description that the tool was made from. */
  readonly key: string;
  /** Undefined if it cannot be offered. */
  readonly tool: Tool | undefined;
}
