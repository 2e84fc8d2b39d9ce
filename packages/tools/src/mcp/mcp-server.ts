import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { JSONObject, ToolEffect, ToolPaths } from '@h/turn';
import {
  anyBoolean,
  anyFunction,
  anyObject,
  anyValue,
  checkOptions,
  instanceOf,
  integerFrom,
  nearestName,
  numberFrom,
  oneOf,
  recordOf,
} from '@h/options';
import type { Tool } from '../define-tool.js';
import { UnknownToolError } from '../errors.js';
import type { ToolModule, ToolRegistry } from '../registry.js';
import { McpLink, type McpCacheScope, type McpState } from './connection.js';
import type { McpInputHandler } from './inputs.js';
import { toolMaker } from './mcp-tools.js';
import { checkServerName } from './names.js';
import type { McpProtocol } from './open-client.js';
import { noTimeout, type McpToolDescription } from './tool-request.js';
import { checkConnection, type McpConnection } from './transports.js';

/** Options of {@link connectMcp}. */
export interface McpServerOptions {
  /** Name of the server in the names of its tools, `mcp__<name>__<tool>`. */
  readonly name: string;
  /** How the server is reached: a command to start, or an address. */
  readonly connection: McpConnection;
  /** Effects by the server's own tool names. They take precedence over the annotations of the server. */
  readonly effects?: Readonly<Record<string, ToolEffect>> | undefined;
  /**
   * Whether to trust the annotations of the server. With `false`, its tools count as `destructive`, except those in
   * `effects`.
   *
   * @defaultValue `true`
   */
  readonly annotations?: boolean | undefined;
  /**
   * Which inputs of a tool are paths, by the server's own tool names; see `paths` of `defineTool`. A policy on paths
   * denies tools that are not listed.
   */
  readonly paths?: Readonly<Record<string, ToolPaths>> | undefined;
  /** Returns the resources that a call touches. Without it, every call of the server runs alone. */
  readonly resources?: ((tool: string, input: JSONObject) => readonly string[] | undefined) | undefined;
  /**
   * Time limit of a call, in milliseconds.
   *
   * @defaultValue the driver's `timeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Time limit of connecting, and of listing tools, in milliseconds.
   *
   * @defaultValue `30_000`, as in Claude Code; `npx` may have to download the server first
   */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Protocol versions to speak: `auto` asks the server with `server/discover` and speaks 2026-07-28, or an earlier
   * version if the server knows no other; `2025` skips the question.
   *
   * @defaultValue `'auto'`
   */
  readonly protocol?: McpProtocol | undefined;
  /**
   * Maximum size of a message of the server, in bytes. A larger result fails its call and is not stored.
   *
   * @defaultValue `16_777_216`, several images in base64
   */
  readonly maxMessageBytes?: number | undefined;
  /**
   * Answers requests of the server for input during a call (`input_required`, elicitation); see `inputApprovals`.
   *
   * @defaultValue none: the capabilities of the client do not include input
   */
  readonly onInput?: McpInputHandler | undefined;
  /**
   * Returns the trace context of a call: `traceparent`, `tracestate` and `baggage`, for the `_meta` of its request.
   *
   * @example
   * ```ts
   * traceContext: () => {
   *   const carrier = {};
   *   propagation.inject(context.active(), carrier); // of @opentelemetry/api
   *   return carrier;
   * },
   * ```
   */
  readonly traceContext?: (() => Readonly<Record<string, string>> | undefined) | undefined;
  /** Ends connecting, and the program that it started. Without effect once the server is connected: use `close()`. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the state of the connection changes. */
  readonly onState?: ((state: McpState) => void) | undefined;
  /** Called when the tools have changed after connecting. */
  readonly onToolsChanged?: (() => void) | undefined;
  /** Called on problems that fail no call, such as a tool that cannot be offered or a broken stream. */
  readonly onProblem?: ((problem: Error) => void) | undefined;
}

/** A connected server. Register it like a module; its tools then follow the list of the server. */
export interface McpServer extends ToolModule {
  readonly name: string;
  readonly state: McpState;
  /** The protocol version of the connection, while it is connected. */
  readonly protocolVersion: string | undefined;
  /** The current tools, sorted by name. */
  readonly tools: readonly Tool[];
  /** The descriptions of the tools as the server sent them, by the names in `tools`. */
  readonly descriptions: ReadonlyMap<string, McpToolDescription>;
  /**
   * Which requests may be answered with this list of tools, for instance by a proxy: `public` for all, `private` for
   * those with the credentials of this connection. A connection never uses the list of another one.
   */
  readonly cacheScope: McpCacheScope;
  /** What the server supports besides tools, while it is connected. */
  readonly capabilities: ServerCapabilities | undefined;
  /**
   * Sends another request of the protocol, such as `resources/read`, and returns its result unchecked.
   *
   * @throws McpConnectionError if the server cannot be reached
   */
  request(method: string, params: JSONObject, signal?: AbortSignal): Promise<unknown>;
  /** Removes the tools from all registries and ends the server process or session. */
  close(): Promise<void>;
}

/**
 * Connects to an MCP server and provides its tools, with qualified names, effects from its annotations, and results
 * that are marked as external.
 *
 * If the server dies, the next call restarts or reconnects it once. Calls that run meanwhile are issued again if they
 * are read-only or idempotent; others fail with a message that they may have taken effect.
 *
 * @throws InvalidOptionError `invalid-option`
 * @throws McpConnectionError if the server cannot be reached, or `signal` ends connecting
 * @throws UnknownToolError if `effects` or `paths` name a tool that the server does not have
 *
 * @example
 * ```ts
 * const files = await connectMcp({
 *   name: 'files',
 *   connection: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', directory] },
 * });
 * registry.register(files);
 * // …
 * await files.close();
 * ```
 */
export const connectMcp = async (options: McpServerOptions): Promise<McpServer> => {
  checkMcpOptions(options);
  const { name, effects = {}, paths = {}, annotations = true, resources, timeoutMs } = options;
  const registries = new Set<ToolRegistry>();
  let tools: readonly Tool[] = [];
  let descriptions: ReadonlyMap<string, McpToolDescription> = new Map();
  let offered: ReadonlySet<string> = new Set();
  let isConnected = false;
  const problem = callback((error: Error) => options.onProblem?.(error));
  const toolsChanged = callback(() => options.onToolsChanged?.());

  const update = (received: readonly McpToolDescription[]): void => {
    const before = tools;
    offered = new Set(received.map((description) => description.name));
    const made = make(received);
    tools = made.map(({ tool }) => tool);
    descriptions = new Map(made.map(({ tool, description }) => [tool.name, description]));
    for (const registry of registries) exchange(registry, before, tools, problem);
    const hasChanged = before.length !== tools.length || before.some((tool, index) => tool !== tools[index]);
    if (isConnected && hasChanged) toolsChanged();
  };
  const link = new McpLink({
    name,
    connection: options.connection,
    connectTimeoutMs: Math.min(options.connectTimeoutMs ?? 30_000, noTimeout),
    maxMessageBytes: options.maxMessageBytes ?? 16_777_216,
    protocol: options.protocol ?? 'auto',
    onInput: options.onInput,
    traceContext: options.traceContext,
    onTools: update,
    onState: callback((state: McpState) => options.onState?.(state)),
    onProblem: problem,
  });
  const make = toolMaker(
    name,
    { effects, paths, areAnnotationsUsed: annotations, resources, timeoutMs, call: link.call.bind(link) },
    problem,
  );

  await connect(link, options.signal);
  isConnected = true;
  const unknown = Object.keys({ ...paths, ...effects }).find((tool) => !offered.has(tool));
  if (unknown !== undefined) {
    await link.close();
    throw new UnknownToolError(
      unknown,
      `The option ${Object.hasOwn(effects, unknown) ? 'effects' : 'paths'} of the MCP server ${JSON.stringify(name)}`,
      nearestName(unknown, [...offered]),
    );
  }
  return {
    name,
    get state() {
      return link.state;
    },
    get protocolVersion() {
      return link.protocolVersion;
    },
    get tools() {
      return tools;
    },
    get descriptions() {
      return descriptions;
    },
    get cacheScope() {
      return link.cacheScope;
    },
    get capabilities() {
      return link.capabilities;
    },
    request: (method, params, signal) => link.request(method, params, signal),
    register: (registry) => {
      registry.register(...tools);
      registries.add(registry);
    },
    close: async () => {
      for (const registry of registries) exchange(registry, tools, [], problem);
      registries.clear();
      await link.close();
    },
  };
};

/** An error of a callback must not end the connection or the process. */
const callback =
  <Given extends unknown[]>(given: (...values: Given) => unknown) =>
  (...values: Given): void => {
    try {
      const result = given(...values);
      if (result instanceof Promise) void Promise.allSettled([result]);
    } catch {
      // It has no other reader.
    }
  };

const connect = async (link: McpLink, signal: AbortSignal | undefined): Promise<void> => {
  const onAbort = (): void => void link.close();
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await link.connect();
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
};

/** Replaces tools in a registry; unchanged tools stay registered. */
const exchange = (
  registry: ToolRegistry,
  before: readonly Tool[],
  after: readonly Tool[],
  problem: (error: Error) => void,
): void => {
  for (const tool of before) {
    if (!after.includes(tool) && registry.get(tool.name) === tool) registry.unregister(tool.name);
  }
  for (const tool of after) {
    if (registry.get(tool.name) === tool) continue;
    try {
      registry.register(tool);
    } catch (error) {
      problem(error as Error);
    }
  }
};

const checkMcpOptions = (options: McpServerOptions): void => {
  checkOptions('connectMcp()', options, {
    name: anyValue,
    connection: anyValue,
    effects: anyValue,
    paths: recordOf(anyObject),
    annotations: anyBoolean,
    resources: anyFunction,
    timeoutMs: numberFrom(1, Infinity),
    connectTimeoutMs: numberFrom(1, Infinity),
    maxMessageBytes: integerFrom(1),
    protocol: oneOf('auto', '2025', '2026-07-28'),
    onInput: anyFunction,
    traceContext: anyFunction,
    signal: instanceOf(AbortSignal),
    onState: anyFunction,
    onToolsChanged: anyFunction,
    onProblem: anyFunction,
  });
  checkServerName(options.name);
  checkConnection(options.connection);
};
