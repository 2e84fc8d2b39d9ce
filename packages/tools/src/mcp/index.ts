export { McpConnectionError } from './connection.js';
export { connectMcp, type McpServer, type McpServerOptions } from './mcp-server.js';
export type { McpConnection } from './transports.js';
