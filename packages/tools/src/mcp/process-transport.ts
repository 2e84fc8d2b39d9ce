import { PassThrough } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { runProcess } from '@h/process';
import { messageLines } from './message-lines.js';
import { tooLargeError } from './failures.js';

/** A server program and its environment. */
export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly cwd: string | undefined;
  readonly maxMessageBytes: number;
  readonly onDiagnostics: (text: string) => void;
}

/** Time in which a program may end after its input has ended, before it receives SIGTERM. */
const goodbyeMs = 1_000;

/**
 * The stdio transport for a supervised server program: the program and the processes that it starts end with the
 * connection, and with this process, even if it is killed.
 *
 * A message that is too large fails its request and is not stored. Lines that are not messages belong to the diagnostics,
 * as the banners and errors that programs write when they start. After the first message, the first such line is also
 * reported: it may be a broken message.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** The client of the SDK recognizes a local transport by these members. */
  readonly pid = null;
  readonly stderr = null;
  readonly #program: ServerProgram;
  readonly #input = new PassThrough();
  readonly #abort = new AbortController();
  /** Why the program could not be run. */
  failure: Error | undefined;
  #ended: Promise<void> | undefined;
  #isOpen = false;
  #hasMessage = false;
  #isNoiseReported = false;

  constructor(program: ServerProgram) {
    this.#program = program;
  }

  start(): Promise<void> {
    const { command, args, environment, cwd, maxMessageBytes, onDiagnostics } = this.#program;
    const lines = messageLines(maxMessageBytes, {
      onLine: (line) => this.#receive(line),
      onTooLong: (start, end) => this.#refuse(start, end),
    });
    this.#isOpen = true;
    this.#ended = runProcess({
      command: [command, ...args],
      environment,
      cwd,
      timeoutMs: Infinity,
      input: this.#input,
      signal: this.#abort.signal,
      onOutput: (chunk, source) => {
        if (source === 'stderr') onDiagnostics(Buffer.from(chunk).toString());
        else if (this.#isOpen) lines.write(chunk);
      },
    }).then(
      () => this.#end(),
      (error: unknown) => {
        this.failure = error instanceof Error ? error : new Error(String(error));
        this.#end();
      },
    );
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!this.#isOpen) return Promise.reject(new Error('Not connected'));
    return new Promise((resolve, reject) => {
      this.#input.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  async close(): Promise<void> {
    this.#input.end();
    const timer = setTimeout(() => this.#abort.abort(), goodbyeMs);
    await this.#ended;
    clearTimeout(timer);
    this.#end();
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#input.destroy();
    this.onclose?.();
  }

  #receive(line: string): void {
    const messages = messagesIn(line);
    if (messages.length === 0) return this.#reportNoise(line);
    this.#hasMessage = true;
    for (const message of messages) this.onmessage?.(message);
  }

  #reportNoise(line: string): void {
    if (line.trim() === '') return;
    this.#program.onDiagnostics(`${line}\n`);
    if (!this.#hasMessage || this.#isNoiseReported) return;
    this.#isNoiseReported = true;
    const shown = JSON.stringify(line.slice(0, 100));
    this.onerror?.(new Error(`The server wrote a line to its standard output that is not a message: ${shown}.`));
  }

  #refuse(start: string, end: string): void {
    const id = idAtStart.exec(start)?.[1] ?? idAtEnd.exec(end)?.[1];
    const error = tooLargeError(this.#program.maxMessageBytes);
    if (id === undefined) this.onerror?.(new Error(error.message));
    else this.onmessage?.({ jsonrpc: '2.0', id: Number(id), error });
  }
}

/** Returns the message of a line, or those of a batch; none if the line is something else. */
const messagesIn = (line: string): readonly JSONRPCMessage[] => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.every(isMessage) ? values : [];
};

const answerMembers: ReadonlySet<string> = new Set(['id', 'result', 'error']);

/** Answers of some servers lack the member `jsonrpc`. Other objects without it are lines of a log. */
const isMessage = (value: unknown): value is JSONRPCMessage => {
  if (typeof value !== 'object' || value === null) return false;
  if ('jsonrpc' in value) return true;
  const members = Object.keys(value);
  return 'id' in value && members.length > 1 && members.every((name) => answerMembers.has(name));
};

/** The id of a response, which serializers write before or after the result. */
const idAtStart = /^\s{0,8}\{\s{0,8}(?:"jsonrpc"\s{0,8}:\s{0,8}"2\.0"\s{0,8},\s{0,8})?"id"\s{0,8}:\s{0,8}(\d{1,16})\b/;
const idAtEnd = /"id"\s{0,8}:\s{0,8}(\d{1,16})\s{0,8}(?:,\s{0,8}"jsonrpc"\s{0,8}:\s{0,8}"2\.0"\s{0,8})?\}\s{0,8}$/;
