import { ProtocolError, type Client, type RequestOptions } from '@modelcontextprotocol/client';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { ToolError } from '../errors.js';
import { messageOf } from './failures.js';
import { taskMethods } from './wire.js';

/** The id of the extension in the capabilities of clients and servers. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** The state of a task, as `tasks/get` returns it. A new task may have any state. */
export interface TaskState {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage?: string | undefined;
  readonly pollIntervalMs?: number | undefined;
  readonly inputRequests?: InputRequests | undefined;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown } | undefined;
}

/** Requests of a server for input of the client, by key. */
export type InputRequests = Readonly<Record<string, { readonly method: string }>>;

/** How a task is followed. */
export interface TaskOptions {
  readonly signal: AbortSignal;
  /** Returns the current client; connects again if the connection was lost. */
  readonly client: () => Promise<Client>;
  /** Returns the answers to requests for input, by key. */
  readonly answer: (requests: InputRequests) => Promise<Readonly<Record<string, unknown>>>;
  readonly onStatus: (message: string) => void;
}

const defaultPollMs = 1_000;
/** Bounds of the polling interval that a server may choose. */
const pollBoundsMs = { min: 50, max: 30_000 } as const;
/** Time limit of one poll. */
const pollTimeoutMs = 30_000;
/** Failed polls in a row after which the call fails. The state of a task outlives a connection. */
const maxFailedPolls = 3;
const pollRetryMs = 250;
const cancelTimeoutMs = 5_000;

/**
 * Follows a task to its end and returns its result. A task that is not followed to its end is cancelled.
 *
 * @throws ToolError `mcp-task-failed`, `mcp-task-cancelled`, `mcp-task-lost`
 */
export const followTask = async (first: TaskState, options: TaskOptions): Promise<unknown> => {
  const { signal, onStatus } = options;
  const answered = new Set<string>();
  let state = first;
  let lastStatus: string | undefined;
  // A new task that has ended already may lack its result, so it is read at least once.
  let isRead = false;
  try {
    for (;;) {
      const { statusMessage } = state;
      if (statusMessage !== undefined && statusMessage !== lastStatus) onStatus(statusMessage);
      lastStatus = statusMessage;
      if (isRead && state.status !== 'working' && state.status !== 'input_required') return resultOf(state);
      if (state.status === 'input_required') await answerInputs(state, answered, options);
      if (isRead || state.status === 'working') await delay(intervalOf(state), signal);
      state = await poll(state.taskId, options);
      isRead = true;
    }
  } catch (error) {
    if (state.status === 'working' || state.status === 'input_required') cancelTask(first.taskId, options);
    if (signal.aborted || error instanceof ToolError || error instanceof ProtocolError) throw error;
    // Not the error itself: after some of them a call counts as undelivered, and would begin a second task.
    throw new ToolError(
      `The task that the server began cannot be followed: ${messageOf(error)}. Whether it takes effect is unknown.`,
      { code: 'mcp-task-lost', cause: error },
    );
  }
};

const resultOf = (state: TaskState): unknown => {
  if (state.status === 'completed') return state.result;
  if (state.status === 'failed') {
    const { error, statusMessage } = state;
    const message = typeof error?.message === 'string' ? error.message : (statusMessage ?? 'no reason was given');
    throw new ToolError(`The task of the server failed: ${message}`, { code: 'mcp-task-failed' });
  }
  const reason = state.statusMessage === undefined ? '' : `: ${state.statusMessage}`;
  throw new ToolError(`The server cancelled the task${reason}.`, { code: 'mcp-task-cancelled' });
};

/** Answers the requests of a task that were not answered before. A server lists a request until it has the answer. */
const answerInputs = async (
  { taskId, inputRequests = {} }: TaskState,
  answered: Set<string>,
  { client, answer, signal }: TaskOptions,
): Promise<void> => {
  const open = Object.fromEntries(Object.entries(inputRequests).filter(([key]) => !answered.has(key)));
  if (Object.keys(open).length === 0) return;
  const inputResponses = await answer(open);
  for (const key of Object.keys(open)) answered.add(key);
  const limits = { signal, timeout: pollTimeoutMs };
  await request(await client(), taskMethods.update, { taskId, inputResponses }, limits);
};

const poll = async (taskId: string, { client, signal }: TaskOptions): Promise<TaskState> => {
  for (let failures = 1; ; failures += 1) {
    try {
      const limits = { signal, timeout: pollTimeoutMs };
      return taskFrom(await request(await client(), taskMethods.get, { taskId }, limits));
    } catch (error) {
      if (signal.aborted || failures >= maxFailedPolls) throw error;
    }
    await delay(pollRetryMs * failures, signal);
  }
};

/** Cancels a task whose result is no longer needed. The server may ignore it, so the answer is not waited for. */
const cancelTask = (taskId: string, { client }: TaskOptions): void => {
  client()
    .then((connected) => request(connected, taskMethods.cancel, { taskId }, { timeout: cancelTimeoutMs }))
    .catch(() => undefined);
};

const request = (
  client: Client,
  method: string,
  params: Record<string, unknown>,
  options: RequestOptions,
): Promise<unknown> => client.request({ method, params }, anything, options);

/** Accepts every result. {@link taskFrom} checks what is read. */
export const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'h', validate: (value) => ({ value }) },
};

const statuses: ReadonlySet<unknown> = new Set(['working', 'input_required', 'completed', 'failed', 'cancelled']);

/**
 * Checks the state of a task that a server sent.
 *
 * @throws ToolError `mcp-invalid-task`
 */
export const taskFrom = (value: unknown): TaskState => {
  const { taskId, status, statusMessage, pollIntervalMs, ...rest } = (value ?? {}) as Record<string, unknown>;
  if (typeof taskId !== 'string' || !statuses.has(status)) {
    throw new ToolError(`The server sent a task without an id or with the unknown status ${JSON.stringify(status)}.`, {
      code: 'mcp-invalid-task',
    });
  }
  return {
    ...rest,
    taskId,
    status: status as TaskState['status'],
    ...(typeof statusMessage === 'string' && { statusMessage }),
    ...(typeof pollIntervalMs === 'number' && { pollIntervalMs }),
  };
};

const intervalOf = ({ pollIntervalMs = defaultPollMs }: TaskState): number =>
  Math.min(Math.max(pollIntervalMs, pollBoundsMs.min), pollBoundsMs.max);

const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
