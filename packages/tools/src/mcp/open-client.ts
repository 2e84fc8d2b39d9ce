import { packageVersion } from '@h/files';
import { maxTimerMs } from '@h/options';
import { Client, type JsonSchemaValidator, type PriorDiscovery } from '@modelcontextprotocol/client';
import pTimeout from 'p-timeout';
import { tasksExtension } from './tasks.js';
import { openTransport, type McpConnection, type OpenedTransport } from './transports.js';
import { WireTransport } from './wire.js';

/** Protocol versions to speak; see `protocol` of `connectMcp`. */
export type McpProtocol = 'auto' | '2025' | '2026-07-28';

/** How a client is opened. */
export interface ClientSettings {
  readonly connection: McpConnection;
  readonly connectTimeoutMs: number;
  readonly maxMessageBytes: number;
  readonly protocol: McpProtocol;
  /** Whether requests of the server for input can be answered. */
  readonly hasInputs: boolean;
  /** Ends the attempt, and the program that it started. */
  readonly signal: AbortSignal;
}

/** A connected client and its transport. */
export interface OpenClient {
  readonly client: Client;
  readonly wire: WireTransport;
  readonly opened: OpenedTransport;
  /** Whether the server speaks a version before 2026-07-28. */
  readonly isLegacy: boolean;
}

/**
 * Time for a local program to answer `server/discover`. Some servers before 2026-07-28 never answer it; they are then
 * initialized as usual.
 */
const probeTimeoutMs = 5_000;
const maxPages = 100;
/** The version that servers receive. */
const version = packageVersion(import.meta.url);

/**
 * Connects a client: to a server of 2026-07-28 with `server/discover`, to an earlier one with `initialize`. A program
 * that ends on `server/discover` is started again.
 *
 * @param isKnownLegacy - whether the server spoke an earlier version before, so that it need not be asked again
 */
export const openClient = async (settings: ClientSettings, isKnownLegacy: boolean): Promise<OpenClient> => {
  const { protocol } = settings;
  if (protocol === '2025' || (protocol === 'auto' && isKnownLegacy)) return attempt(settings, { kind: 'legacy' });
  if (protocol === '2026-07-28') return attempt(settings);
  try {
    return await attempt(settings);
  } catch (error) {
    if (!(error instanceof OpenError) || !error.hasEndedEarly) throw error;
    return attempt(settings, { kind: 'legacy' });
  }
};

/** The connection could not be opened. */
export class OpenError extends Error {
  /** The end of the server's standard error output. */
  readonly diagnostics: string;
  /** Whether a local program ended while it was asked for its protocol version. */
  readonly hasEndedEarly: boolean;

  constructor(cause: unknown, diagnostics: string, hasEndedEarly: boolean) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.diagnostics = diagnostics;
    this.hasEndedEarly = hasEndedEarly;
  }
}

const attempt = async (settings: ClientSettings, prior?: PriorDiscovery): Promise<OpenClient> => {
  const { connection, connectTimeoutMs: timeout, maxMessageBytes, protocol, hasInputs, signal } = settings;
  signal.throwIfAborted();
  const opened = openTransport(connection, maxMessageBytes);
  const wire = new WireTransport(opened.transport, maxMessageBytes);
  let hasClosed = false;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports of the SDK have no event listeners
  wire.onclose = () => {
    hasClosed = true;
  };
  const probe = { ...(opened.isLocal && { timeoutMs: Math.min(probeTimeoutMs, timeout) }) };
  const client = new Client(
    { name: 'h-tools', version },
    {
      capabilities: { extensions: { [tasksExtension]: {} }, ...(hasInputs && { elicitation: { form: {} } }) },
      versionNegotiation: { mode: protocol === 'auto' ? 'auto' : { pin: '2026-07-28' }, probe },
      listMaxPages: maxPages,
      // Patterns of a server could block the process; the tools check the structured content themselves.
      jsonSchemaValidator: { getValidator: acceptAll },
    },
  );
  const onAbort = (): void => void wire.close().catch(() => undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    // The timeout of the SDK is that of each request; a notification has none.
    const milliseconds = Math.min(timeout + (probe.timeoutMs ?? 0), maxTimerMs);
    await pTimeout(client.connect(wire, { timeout, ...(prior !== undefined && { prior }) }), {
      milliseconds,
      message: `connecting timed out after ${milliseconds} ms`,
    });
  } catch (error) {
    const hasEndedEarly = opened.isLocal && hasClosed && prior === undefined && opened.failure() === undefined;
    await client.close().catch(() => undefined);
    await wire.close().catch(() => undefined);
    throw new OpenError(opened.failure() ?? error, opened.diagnostics(), hasEndedEarly && !signal.aborted);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  return { client, wire, opened, isLegacy: client.getProtocolEra() !== 'modern' };
};

const acceptAll =
  <T>(): JsonSchemaValidator<T> =>
  (input) => ({ valid: true, data: input as T, errorMessage: undefined });
