export type { McpCacheScope, McpState } from './connection.js';
export { McpConnectionError } from './failures.js';
export { inputApprovals, type InputApprovals, type InputApprovalsOptions } from './input-approvals.js';
export type { McpInputAnswer, McpInputHandler, McpInputRequest } from './inputs.js';
export { connectMcp, type McpServer, type McpServerOptions } from './mcp-server.js';
export type { McpProtocol } from './open-client.js';
export type { McpToolDescription } from './tool-request.js';
export type { HttpConnection, McpConnection, StdioConnection } from './transports.js';
