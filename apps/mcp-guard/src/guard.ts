import { bridge, ToolLock, TurnStoppedError, type HostSession } from '@h/bridge';
import { closeSinks, jsonLinesSink, type Sink } from '@h/observe';
import { openTelemetry, type Telemetry } from '@h/observe/otlp';
import { createRedactor, type Redactor } from '@h/redact';
import { createRegistry, fileArtifacts, memoryArtifacts, readArtifact, toolDriver, type ArtifactStore } from '@h/tools';
import type { McpCacheScope, McpServer, McpToolDescription } from '@h/tools/mcp';
import type { JSONValue, Message, ToolDriver, ToolEffect, ToolOutcome } from '@h/turn';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { from } from 'rxjs';
import type { CallProgress } from './call-progress.js';
import { callResult, errorResult } from './call-result.js';
import type { Config } from './config-schema.js';
import { CallTraces, type TraceContext } from './call-traces.js';
import { operatorsOf } from './operators.js';
import { passedOn, ToolPins } from './pins.js';
import { isNamed } from './policy.js';
import { decisionOn, type Approve } from './question.js';
import { Upstream } from './upstream.js';

/** A tool as clients see it. */
export interface GuardedTool {
  readonly description: McpToolDescription;
  /** The name in the registry. */
  readonly registered: string;
  readonly upstream: Upstream | undefined;
  readonly effect: ToolEffect;
  /** Whether calls may run together. */
  readonly isReader: boolean;
}

/** A call of a client. */
export interface GuardedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly approve: Approve;
  readonly progress?: CallProgress | undefined;
  /** The trace context of the client. */
  readonly trace?: TraceContext | undefined;
}

/** Callbacks of a guard. */
export interface GuardEvents {
  /** Receives messages for the person who runs the guard. */
  readonly onNote: (note: string) => void;
  readonly onToolsChanged: () => void;
}

/** What a guard opens before it starts. */
interface GuardParts {
  readonly pins: ToolPins;
  readonly store: ArtifactStore | undefined;
  readonly telemetry: Telemetry;
}

/** All calls are in one session, so that artifacts and approvals belong together. */
const sessionName = 'mcp';

const identity = { read: (message: Message) => message, write: (message: Message) => [message] };

/** Passes calls of clients through the operators to the servers. */
export class Guard {
  readonly #config: Config;
  readonly #events: GuardEvents;
  readonly #upstreams: readonly Upstream[];
  readonly #driver: ToolDriver;
  readonly #pins: ToolPins;
  readonly #session: HostSession<Message>;
  readonly #sinks: readonly Sink[];
  readonly #telemetry: Telemetry;
  readonly #traces: CallTraces;
  readonly #redactor: Redactor | undefined;
  readonly #artifactTool: ReadonlyMap<string, GuardedTool>;
  readonly #locks = new Map<Upstream | undefined, ToolLock>();
  readonly #notes = new Set<string>();
  /** Whether the tools of the connected servers were taken over. Later changes are announced. */
  #isCurrent = false;
  #calls = 0;
  #tools: ReadonlyMap<string, GuardedTool> = new Map();
  /** Why tools are not offered that their server has, by name. */
  #refused: ReadonlyMap<string, string> = new Map();

  private constructor(config: Config, events: GuardEvents, { pins, store, telemetry }: GuardParts) {
    this.#config = config;
    this.#telemetry = telemetry;
    this.#traces = new CallTraces(telemetry);
    this.#events = events;
    this.#pins = pins;
    const { results } = config;
    const registry = createRegistry();
    this.#artifactTool = new Map();
    if (store !== undefined) {
      const tool = readArtifact(store);
      registry.register(tool);
      this.#artifactTool = new Map([[tool.name, ownTool(tool.definition)]]);
    }
    const onChange = (): void => void this.#update().then(() => events.onToolsChanged());
    this.#upstreams = Object.entries(config.servers ?? {}).map(
      ([name, server]) =>
        new Upstream(name, server, results, {
          registry,
          onChange,
          onNote: events.onNote,
          traceContext: () => this.#traces.current(),
        }),
    );
    const driver = toolDriver(registry, { timeoutMs: results.timeoutMs, replay: false });
    this.#driver = telemetry.traceTools(driver);
    this.#sinks = config.log.file === undefined ? [] : [jsonLinesSink(config.log.file)];
    const effectOf = (tool: string): ToolEffect | undefined => this.#tools.get(tool)?.effect;
    this.#redactor = config.security.redact ? createRedactor() : undefined;
    const sinks = [...this.#sinks, ...telemetry.sinks];
    const namesOf = (tool: string): readonly string[] => [tool, qualified(this.#tools.get(tool)?.registered ?? tool)];
    const operators = operatorsOf(config, { store, sinks, redactor: this.#redactor, effectOf, namesOf });
    const traces = config.log.otel === undefined ? [] : [this.#traces.operator];
    this.#session = bridge([...traces, ...operators], { host: 'mcp-guard', format: identity }).session(sessionName);
  }

  /** @throws ConfigError, InvalidOptionError if the configuration cannot be applied */
  static async open(config: Config, events: GuardEvents): Promise<Guard> {
    const pins = await ToolPins.open(config.security.pins, config.security.scan, events.onNote);
    const store = await artifactsOf(config.results.artifacts);
    const { otel } = config.log;
    const telemetry = await openTelemetry({
      url: otel,
      serviceName: 'mcp-guard',
      onFailure: ({ message }) => events.onNote(`exporting to ${otel} failed: ${message}`),
    });
    return new Guard(config, events, { pins, store, telemetry });
  }

  get pins(): ToolPins {
    return this.#pins;
  }

  /** The connected servers, by name. */
  get servers(): readonly McpServer[] {
    return this.#upstreams.flatMap(({ server }) => (server === undefined ? [] : [server]));
  }

  /** Connects all servers that are not connected. A server that fails is reported, and tried again the next time. */
  async connect(): Promise<void> {
    if (this.#isCurrent && this.#upstreams.every(({ server }) => server !== undefined)) return;
    await Promise.all(this.#upstreams.map((upstream) => upstream.connect()));
    await this.#update();
    this.#isCurrent = true;
  }

  /** The server whose resources and prompts are passed on: the only one, once it is connected. */
  get soleServer(): McpServer | undefined {
    return this.#upstreams.length === 1 ? this.#upstreams[0]?.server : undefined;
  }

  /** Replaces the secrets in a value. */
  redact<Value>(value: Value): Value {
    return this.#redactor === undefined ? value : this.#redactor.redactData(value);
  }

  /** Returns the tools that clients may call, after connecting. */
  async tools(): Promise<readonly McpToolDescription[]> {
    await this.connect();
    return [...this.#tools.values()].map(({ description }) => description);
  }

  /** Which requests may be answered with the list of tools: all, if all servers allow it and the guard has no token. */
  get cacheScope(): McpCacheScope {
    const isPublic = this.#upstreams.every(({ server }) => server?.cacheScope === 'public');
    return isPublic && this.#config.listen?.token === undefined ? 'public' : 'private';
  }

  /** Calls a tool. Never rejects: every failure is a result. */
  async call({ name, input, signal, approve, progress, trace = {} }: GuardedCall): Promise<CallToolResult> {
    if (!this.#tools.has(name)) await this.tools();
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      return errorResult(this.#refused.get(name) ?? `The tool ${name} does not exist, or is hidden.`);
    }
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    try {
      const { outcome } = await this.#traces.begin(trace, () =>
        this.#session.tool({
          id,
          name,
          input,
          signal,
          // The client receives the result before the turn ends.
          scheduleEnd: setImmediate,
          approve: (question) => decisionOn(question, approve, signal),
          run: async (call, callSignal) => {
            const run = (): Promise<ToolOutcome> =>
              this.#traces.within(trace, () => this.#run(tool, { ...call, id }, callSignal, progress));
            const ran = await (this.#config.results.lock ? this.#lockOf(tool).run(tool.isReader, run) : run());
            return { outcome: ran, value: ran };
          },
        }),
      );
      return callResult(outcome, !this.#config.security.wrap);
    } catch (error) {
      if (error instanceof TurnStoppedError) return errorResult(`The guard stopped the call: ${error.message}`);
      return errorResult(this.redact(error instanceof Error ? error.message : String(error)));
    } finally {
      progress?.end();
    }
  }

  async close(): Promise<void> {
    this.#session.end('The guard was closed.');
    await Promise.all(this.#upstreams.map((upstream) => upstream.close()));
    await closeSinks(this.#sinks);
    await this.#telemetry.close();
  }

  #lockOf({ upstream }: GuardedTool): ToolLock {
    const lock = this.#locks.get(upstream) ?? new ToolLock();
    this.#locks.set(upstream, lock);
    return lock;
  }

  /** Runs a call that the operators allowed. */
  #run(
    { registered }: GuardedTool,
    { id, input }: { readonly id: string; readonly input: unknown },
    signal: AbortSignal,
    progress: CallProgress | undefined,
  ): Promise<ToolOutcome> {
    signal.throwIfAborted();
    const context = { turn: this.#traces.turnOf(id), session: sessionName, step: 1, signal, skipSignal: signal };
    // The driver marks the results of servers, and what `read_artifact` returns of them.
    const { wrap } = this.#config.security;
    return new Promise((resolve, reject) => {
      let hasResult = false;
      from(this.#driver.run([{ id, name: registered, input }], context)).subscribe({
        next: (output) => {
          if (output.type === 'result') {
            hasResult = true;
            resolve(wrap ? output.outcome : withoutMark(output.outcome));
          } else if (output.type === 'progress') progress?.report(output.progress);
        },
        error: reject,
        complete: () => {
          if (!hasResult) reject(new Error('The call ended without a result.'));
        },
      });
    });
  }

  /** Takes over the current tools of the servers, without those that are hidden or refused. */
  async #update(): Promise<void> {
    const found = new Map(this.#artifactTool);
    const notOffered = new Map<string, string>();
    const isSingle = this.#upstreams.length === 1;
    for (const upstream of this.#upstreams) {
      const { name: serverName, server } = upstream;
      if (server === undefined) continue;
      const refused = new Map<string, string>();
      for (const { tool, reason } of await this.#pins.check(serverName, server.descriptions)) refused.set(tool, reason);
      for (const tool of server.tools) {
        const description = server.descriptions.get(tool.name);
        if (description === undefined) continue;
        const name = isSingle ? description.name : qualified(tool.name);
        const names = [name, qualified(tool.name)];
        const isHidden = this.#config.policy.hidden.some((pattern) => isNamed(pattern, names));
        const reason = refused.get(tool.name);
        if (isHidden || found.has(name)) continue;
        if (reason !== undefined) {
          const note = `The tool ${name} of ${serverName} is refused: ${reason}.`;
          notOffered.set(name, note);
          this.#noteOnce(note);
          continue;
        }
        found.set(name, {
          description: { ...passedOn(description), name },
          registered: tool.name,
          upstream,
          effect: tool.effect,
          isReader: tool.effect === 'read-only' || description.annotations?.readOnlyHint === true,
        });
      }
    }
    this.#refused = notOffered;
    this.#tools = new Map([...found].toSorted(([one], [other]) => (one < other ? -1 : Number(one > other))));
  }

  #noteOnce(note: string): void {
    if (this.#notes.has(note) || this.#notes.size >= maxNotes) return;
    this.#notes.add(note);
    this.#events.onNote(note);
  }
}

const maxNotes = 1_000;

/** Returns `<server>__<tool>` for the name of a tool in the registry. */
export const qualified = (registered: string): string => registered.replace(/^mcp__/, '');

const ownTool = ({
  name,
  description,
  inputSchema,
}: {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
}): GuardedTool => ({
  description: {
    name,
    description,
    inputSchema: inputSchema as McpToolDescription['inputSchema'],
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  registered: name,
  upstream: undefined,
  effect: 'read-only',
  isReader: true,
});

const withoutMark = (outcome: ToolOutcome): ToolOutcome => {
  const { details } = outcome;
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return outcome;
  const { external: _external, ...rest } = details as Readonly<Record<string, JSONValue>>;
  return { ...outcome, details: rest };
};

const artifactsOf = async (artifacts: boolean | string): Promise<ArtifactStore | undefined> => {
  if (artifacts === false) return undefined;
  return typeof artifacts === 'string' ? fileArtifacts({ directory: artifacts }) : memoryArtifacts();
};
