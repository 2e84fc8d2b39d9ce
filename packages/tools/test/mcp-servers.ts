import { createRequire } from 'node:module';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { McpConnection, StdioConnection } from '../src/mcp/transports.js';

const require = createRequire(import.meta.url);

/** Returns the connection to a reference server of the MCP project. */
export const referenceServer = (name: 'everything' | 'filesystem' | 'memory', ...args: string[]): StdioConnection => ({
  command: process.execPath,
  args: [require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
});

/** Returns the same connection with access to the server process. */
export const observed = ({
  command,
  args = [],
}: StdioConnection): { readonly connection: McpConnection; readonly pids: number[]; kill(): void } => {
  const started: StdioClientTransport[] = [];
  const pids: number[] = [];
  return {
    connection: () => {
      const transport = new StdioClientTransport({ command, args: [...args], stderr: 'ignore' });
      const start = transport.start.bind(transport);
      transport.start = async () => {
        await start();
        pids.push(transport.pid as number);
      };
      started.push(transport);
      return transport;
    },
    pids,
    kill: () => void process.kill(pids.at(-1) as number, 'SIGKILL'),
  };
};

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
