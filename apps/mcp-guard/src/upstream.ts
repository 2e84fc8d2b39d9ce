import type { ToolRegistry } from '@h/tools';
import { connectMcp, type McpConnection, type McpServer } from '@h/tools/mcp';
import type { Config, ServerConfig } from './config-schema.js';

/** What an upstream reports to. */
export interface UpstreamHost {
  readonly registry: ToolRegistry;
  readonly onChange: () => void;
  readonly onNote: (note: string) => void;
  /** Returns the trace context of the running call. */
  readonly traceContext: () => Readonly<Record<string, string>> | undefined;
}

const retryMs = 5_000;

/** A server behind the guard. */
export class Upstream {
  readonly name: string;
  readonly #config: ServerConfig;
  readonly #limits: Config['results'];
  readonly #host: UpstreamHost;
  #server: McpServer | undefined;
  #connecting: Promise<void> | undefined;
  readonly #closing = new AbortController();
  /** When a failed connection may be tried again. */
  #retryAt = 0;

  constructor(name: string, config: ServerConfig, limits: Config['results'], host: UpstreamHost) {
    this.name = name;
    this.#config = config;
    this.#limits = limits;
    this.#host = host;
  }

  /** The connection, once it was made. It reconnects on its own. */
  get server(): McpServer | undefined {
    return this.#server;
  }

  /** Connects, if necessary. A failure is reported. */
  async connect(): Promise<void> {
    if (this.#server !== undefined || this.#closing.signal.aborted || monotonicMs() < this.#retryAt) return;
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    await this.#connecting;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connecting;
    await this.#server?.close();
  }

  async #open(): Promise<void> {
    const { effects, protocol, timeoutMs } = this.#config;
    const { registry, onChange, onNote, traceContext } = this.#host;
    const { signal } = this.#closing;
    try {
      const server = await connectMcp({
        name: this.name,
        connection: connectionOf(this.#config),
        effects,
        protocol,
        timeoutMs,
        maxMessageBytes: this.#limits.maxMessageBytes,
        traceContext,
        signal,
        onToolsChanged: onChange,
        onProblem: (problem) => onNote(`${this.name}: ${problem.message}`),
      });
      registry.register(server);
      this.#server = server;
      if (signal.aborted) await server.close();
    } catch (error) {
      if (signal.aborted) return;
      this.#retryAt = monotonicMs() + retryMs;
      onNote(error instanceof Error ? error.message : String(error));
    }
  }
}

const connectionOf = ({ command, args, env, cwd, url, headers }: ServerConfig): McpConnection =>
  command === undefined ? { url: url ?? '', headers } : { command, args, env, cwd };

const monotonicMs = (): number => performance.now();
