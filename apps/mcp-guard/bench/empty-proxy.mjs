// A server of the MCP SDK that passes every call to a client of the MCP SDK: the least that a proxy of this SDK costs.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'empty-proxy', version: '1' });
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
serveStdio(() => {
  const mcp = new McpServer({ name: 'empty-proxy', version: '1' }, { capabilities: { tools: {} } });
  mcp.server.setRequestHandler('tools/list', () => client.listTools());
  mcp.server.setRequestHandler('tools/call', ({ params: { name, arguments: input } }) =>
    client.callTool({ name, arguments: input }),
  );
  return mcp;
});
process.stdin.once('close', () => process.exit(0));
