import { maxTimerMs } from '@h/options';
import {
  isInputRequiredResult,
  type CallToolResult,
  type Client,
  type ElicitResult,
  type Progress,
  type Tool,
} from '@modelcontextprotocol/client';
import { ToolError } from '../errors.js';
import { answerRequests, type InputCall, type InputSettings } from './inputs.js';
import { followTask, taskFrom, type InputRequests } from './tasks.js';
import type { WireTransport } from './wire.js';

/** The description of a tool, as a server sends it. */
export type McpToolDescription = Tool;

/** A call of a tool. */
export interface LinkCall extends InputCall {
  readonly description: McpToolDescription;
  /** Whether the call may run twice: it is issued again if the connection breaks. */
  readonly isRepeatable: boolean;
  readonly onProgress: (progress: Pick<Progress, 'message'> & Partial<Progress>) => void;
}

/** How a call is sent. */
export interface RequestSettings extends InputSettings {
  /** Returns the trace context that requests carry in their `_meta`. */
  readonly traceContext: (() => Readonly<Record<string, string>> | undefined) | undefined;
  /** Returns the current client; connects again if the connection was lost. */
  readonly client: () => Promise<Client>;
}

/** Longest timeout of the SDK. The driver sets the deadline of calls. */
export const noTimeout = maxTimerMs;
/** Maximum number of times that a server may request input during one call, as in the MCP SDK. */
const maxRounds = 10;

/**
 * Sends a call, and again with the requested input until the server returns a result. A call that the server runs as a
 * task is followed to its end.
 *
 * @param wire - the transport of the client
 */
export const requestTool = async (
  client: Client,
  wire: WireTransport,
  call: LinkCall,
  settings: RequestSettings,
): Promise<CallToolResult> => {
  const { token, end } = wire.followProgress(call.onProgress);
  try {
    return await requestResult(client, { taskKey: wire.taskKey, progressToken: token }, call, settings);
  } finally {
    end();
  }
};

interface CallMarks {
  /** The member of `_meta` that contains a task handle. */
  readonly taskKey: string;
  readonly progressToken: number;
}

const requestResult = async (
  client: Client,
  { taskKey, progressToken }: CallMarks,
  call: LinkCall,
  settings: RequestSettings,
): Promise<CallToolResult> => {
  const { description, input, signal } = call;
  const { name, inputSchema } = description;
  const params = { name, arguments: { ...input }, _meta: { ...settings.traceContext?.(), progressToken } };
  // Without an output schema: the client would reject task handles and requests for input.
  const toolDefinition = { name, inputSchema };
  const options = { signal, timeout: noTimeout, allowInputRequired: true, toolDefinition };
  let extra: { readonly inputResponses?: Record<string, object>; readonly requestState?: string } = {};
  for (let round = 0; round <= maxRounds; round += 1) {
    signal.throwIfAborted();
    const result: unknown = await client.callTool({ ...params, ...extra }, options);
    if (!isInputRequiredResult(result)) return finished(result as CallToolResult, taskKey, call, settings);
    const { inputRequests, requestState } = result;
    extra = {
      ...(inputRequests !== undefined && {
        inputResponses: { ...(await answerInputs(inputRequests, call, settings)) },
      }),
      ...(requestState !== undefined && { requestState }),
    };
  }
  throw new ToolError(`The server requested input more than ${maxRounds} times.`, { code: 'mcp-input-rounds' });
};

/** Returns the result, or follows the task whose handle it contains. */
const finished = async (
  result: CallToolResult,
  taskKey: string,
  call: LinkCall,
  settings: RequestSettings,
): Promise<CallToolResult> => {
  const handle = result._meta?.[taskKey];
  if (handle === undefined) return result;
  const final = await followTask(taskFrom(handle), {
    signal: call.signal,
    client: settings.client,
    answer: (requests) => answerInputs(requests, call, settings),
    onStatus: (message) => call.onProgress({ message }),
  });
  return callResultFrom(final);
};

/** Answers requests of the server for input during a call. */
export const answerInputs = (
  requests: InputRequests,
  { tool, input, call, turn, session, signal }: LinkCall,
  settings: InputSettings,
): Promise<Record<string, ElicitResult>> =>
  answerRequests(requests, { tool, input, call, turn, session, signal }, settings) as Promise<
    Record<string, ElicitResult>
  >;

/** Checks the result of a task. */
const callResultFrom = (value: unknown): CallToolResult => {
  const { resultType: _resultType, ...result } = (value ?? {}) as Record<string, unknown>;
  if (Array.isArray(result['content'])) return result as CallToolResult;
  throw new ToolError('The task of the server ended without a result.', { code: 'mcp-invalid-task' });
};
