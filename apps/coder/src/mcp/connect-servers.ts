import type { McpServer } from '@h/tools/mcp';
import { UsageError } from '../usage-error.js';
import { serverAddress, serverName, type ServerAddress } from './command-line.js';

/** The connected MCP servers of the command line. */
export interface Servers {
  readonly modules: readonly McpServer[];
  close(): Promise<void>;
}

/**
 * Connects to the MCP servers of the command line.
 *
 * Commands run in `folder`. If a connection fails, the open ones are closed. The MCP library is loaded only if
 * `commands` is not empty.
 *
 * @throws UsageError for an invalid command and for a server that does not answer
 */
export const connectServers = async (commands: readonly string[], folder: string): Promise<Servers> => {
  const modules: McpServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(modules.map((module) => module.close()));
  };
  try {
    for (const command of commands) modules.push(await connect(command, folder, modules));
    return { modules, close };
  } catch (error) {
    await close();
    throw error instanceof UsageError
      ? error
      : new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
};

const connect = async (command: string, folder: string, others: readonly McpServer[]): Promise<McpServer> => {
  const { connectMcp } = await import('@h/tools/mcp');
  const address = serverAddress(command);
  if (address === undefined) {
    throw new UsageError(`--mcp must be a command or a URL, but is ${JSON.stringify(command)}.`);
  }
  return connectMcp({ name: nameFor(address, others), connection: connectionTo(address, folder) });
};

const connectionTo = (address: ServerAddress, cwd: string) => {
  if ('url' in address) return { url: address.url };
  const [program, ...args] = address.words;
  return { command: program, args, cwd };
};

/** Returns the given name, or derives a unique one from the address. */
const nameFor = (address: ServerAddress, others: readonly McpServer[]): string => {
  if (address.name !== undefined) return address.name;
  const name = 'url' in address ? 'web' : serverName(address.words);
  const taken = new Set(others.map((other) => other.name));
  for (let number = 2; taken.has(name); number += 1) if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
  return name;
};
