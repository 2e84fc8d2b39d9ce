import {
  acceptedContent,
  inputRequired,
  McpServer,
  type CallToolResult,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import * as z from 'zod';

/** What a server remembers between requests. */
export interface ServerMemory {
  /** Names of the tools that ran, and the task methods that were called. */
  readonly log: string[];
  readonly tasks: Map<string, { polls: number; answer?: unknown; isCancelled?: boolean }>;
}

export const serverMemory = (): ServerMemory => ({ log: [], tasks: new Map() });

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });
const readOnly = { annotations: { readOnlyHint: true, openWorldHint: false } };

/** Creates a server of the current SDK with tools for every feature of the protocol. */
export const currentServer =
  (memory: ServerMemory, extra: (server: McpServer) => void = () => undefined): McpServerFactory =>
  () => {
    const { log, tasks } = memory;
    const extensions = { 'io.modelcontextprotocol/tasks': {} };
    const server = new McpServer(
      { name: 'current', version: '1' },
      { capabilities: { extensions, tools: { listChanged: true } } },
    );
    // Not in the order of their names.
    server.registerTool('trace', readOnly, ({ mcpReq }) => text(JSON.stringify(mcpReq._meta ?? {})));
    server.registerTool('greet', { inputSchema: z.object({ name: z.string() }), ...readOnly }, ({ name }) => {
      log.push('greet');
      return text(`Hello ${name}`);
    });
    server.registerTool('big', { inputSchema: z.object({ bytes: z.number() }), ...readOnly }, ({ bytes }) =>
      text('x'.repeat(bytes)),
    );
    server.registerTool('order', { inputSchema: z.object({ item: z.string() }) }, ({ item }, { mcpReq }) => {
      log.push('order');
      const answer = acceptedContent<{ confirm?: boolean }>(mcpReq.inputResponses, 'confirm');
      if (answer?.confirm === true) return text(`Ordered ${item}`);
      if (mcpReq.inputResponses !== undefined) return text('Not ordered');
      const requestedSchema = {
        type: 'object' as const,
        properties: { confirm: { type: 'boolean' as const } },
        required: ['confirm'],
      };
      return inputRequired({
        inputRequests: { confirm: inputRequired.elicit({ message: `Order ${item}?`, requestedSchema }) },
        requestState: `order:${item}`,
      });
    });
    server.registerTool('build', { inputSchema: z.object({ asks: z.boolean() }) }, ({ asks }) => {
      const taskId = `task-${tasks.size + 1}`;
      tasks.set(taskId, { polls: 0, ...(!asks && { answer: {} }) });
      log.push('build');
      return { resultType: 'task', ...taskOf(taskId, 'working') } as unknown as CallToolResult;
    });
    const ofTask = { params: z.looseObject({ taskId: z.string() }) };
    server.server.setRequestHandler('tasks/get', ofTask, ({ taskId }) => {
      const task = tasks.get(taskId);
      if (task === undefined) throw new Error('The task does not exist.');
      task.polls += 1;
      if (task.isCancelled) return taskOf(taskId, 'cancelled');
      if (task.answer === undefined) {
        const params = { mode: 'form', message: 'Build?', requestedSchema: { type: 'object', properties: {} } };
        const inputRequests = { go: { method: 'elicitation/create', params } };
        return { ...taskOf(taskId, 'input_required'), inputRequests };
      }
      if (task.polls < 4) return taskOf(taskId, 'working');
      const result = { resultType: 'complete', ...text(`Built: ${JSON.stringify(task.answer)}`) };
      return { ...taskOf(taskId, 'completed'), result };
    });
    server.server.setRequestHandler('tasks/update', ofTask, ({ taskId }, { mcpReq }) => {
      log.push('tasks/update');
      const task = tasks.get(taskId);
      if (task !== undefined) task.answer = mcpReq.inputResponses;
      return {};
    });
    server.server.setRequestHandler('tasks/cancel', ofTask, ({ taskId }) => {
      log.push('tasks/cancel');
      const task = tasks.get(taskId);
      if (task !== undefined) task.isCancelled = true;
      return {};
    });
    extra(server);
    return server;
  };

const taskOf = (taskId: string, status: string) => ({
  taskId,
  status,
  statusMessage: `The task is ${status}.`,
  createdAt: '2026-11-01T00:00:00Z',
  lastUpdatedAt: '2026-11-01T00:00:00Z',
  ttlMs: 60_000,
  pollIntervalMs: 50,
});
