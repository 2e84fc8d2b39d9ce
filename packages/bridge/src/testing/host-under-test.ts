import type { PipelineOperator } from '@h/turn';
import type { BridgeOptions } from '../bridge.js';
import type { HostEvents } from '../host-events.js';

/** A wire format: OpenAI Chat Completions, OpenAI Responses, Anthropic Messages. */
export type Wire = 'chat-completions' | 'responses' | 'messages';

/** A tool of the suite. It has one parameter of type string and returns text. */
export interface SuiteTool {
  readonly name: string;
  readonly description: string;
  /** The name of the parameter. */
  readonly parameter: string;
  /** Runs the tool. It throws if the call fails, and rejects with the reason of the signal if that is aborted. */
  run(input: unknown, signal: AbortSignal | undefined): Promise<string>;
}

/** The JSON schema of the input of a tool. */
export const schemaOf = ({ parameter }: SuiteTool) => ({
  type: 'object' as const,
  properties: { [parameter]: { type: 'string' as const } },
  required: [parameter],
  additionalProperties: false as const,
});

/** What pauses a run: an approval that an operator requests, or one that the host requires for the tool `write`. */
export type Pause = 'operator' | 'host';

/** What a host must be built with. */
export interface HostSetup {
  /** Operators of the bridge; `undefined` asks for the host without a bridge. */
  readonly operators: readonly PipelineOperator[] | undefined;
  /** Options of the bridge. */
  readonly options: Pick<BridgeOptions<never>, 'effects' | 'approve'> & { readonly partial?: boolean | undefined };
  readonly wire: Wire;
  /** URL of the model server. The paths of the wire formats begin with `/v1`. */
  readonly url: string;
  /** The key of the model. */
  readonly key: string;
  /** Returns the key of a credential that an operator chose. A request without a credential has `key`. */
  keyOf(credential: string | undefined): string;
  readonly tools: readonly SuiteTool[];
  /**
   * What must pause a run until {@link RunningHost.answer}. With `'operator'`, the bridge turns approvals into the
   * pauses of the host; `options.approve` is not set then.
   */
  readonly pause?: Pause | undefined;
  /** What the host stores outside of its process. An agent that is started with it again continues its sessions. */
  readonly storage: Map<string, unknown>;
}

/** One input for the agent of a host. */
export interface HostInput {
  readonly text: string;
  /** The conversation that the input continues. */
  readonly session: string;
  readonly isStreamed: boolean;
  readonly signal: AbortSignal | undefined;
  /** Receives each piece of streamed text. */
  onText(text: string): void;
}

/** The result of a run of a host. */
export interface HostReply {
  /** The last answer. */
  readonly text: string;
  /** Why an operator stopped the turn, as the user of the host learns it. */
  readonly stop?: { readonly outcome: string; readonly reason?: string | undefined } | undefined;
  /** Whether the run waits for an approval. */
  readonly isPaused?: boolean | undefined;
}

/** An agent of a host. */
export interface RunningHost {
  /** Runs the agent until it has answered. Rejects if the model failed or the run was cancelled. */
  run(input: HostInput): Promise<HostReply>;
  /** Answers the approval for which the last run of the session paused, and continues the run. */
  answer?(isApproved: boolean, input: HostInput): Promise<HostReply>;
  /** Continues a run that failed from the last state that the host stored. */
  resume?(input: HostInput): Promise<HostReply>;
  /** Runs another agent of the same bridge in the session of the input, which a tool call of this session requests. */
  nest?(input: HostInput): Promise<HostReply>;
  close?(): Promise<void> | void;
}

/** A bridge and its host, for {@link describeHost}. */
export interface HostUnderTest {
  /** The name of the host. */
  readonly name: string;
  /** The table of the README: tests of events that the host does not carry expect an error instead. */
  readonly events: HostEvents;
  readonly wires: readonly Wire[];
  /** Whether the host can stream its answers. */
  readonly streams: boolean;
  /** What can pause a run. @defaultValue nothing */
  readonly pauses?: readonly Pause[] | undefined;
  /**
   * Whether the bridge runs the tools. Otherwise their client does, which decides about their order and their end.
   *
   * @defaultValue `true`
   */
  readonly runsTools?: boolean | undefined;
  /** Whether the host stores sessions and paused runs, so that another process can continue them. */
  readonly restarts?: boolean | undefined;
  /**
   * Wires whose requests the host does not abort when a run is cancelled: the run ends, the request does later.
   *
   * @defaultValue none
   */
  readonly keepsRequests?: readonly Wire[] | undefined;
  /** Whether tools of the host can run other agents. */
  readonly nests?: boolean | undefined;
  /** Whether the host continues a run that failed. */
  readonly resumesFailures?: boolean | undefined;
  /**
   * Builds an agent. Retries of the host and its provider must be off, its limit of steps at least 40, and the bridge
   * set to end a run without an exception when an operator stops the turn.
   */
  start(setup: HostSetup): RunningHost | Promise<RunningHost>;
}
