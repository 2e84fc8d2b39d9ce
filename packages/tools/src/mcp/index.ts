export { McpConnectionError, type McpState } from './connection.js';
export { connectMcp, type McpServer, type McpServerOptions } from './mcp-server.js';
export type { HttpConnection, McpConnection, StdioConnection } from './transports.js';
