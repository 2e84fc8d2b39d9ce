import {
  anyBoolean,
  anyFunction,
  anyObject,
  checkOptions,
  integerFrom,
  nonEmptyString,
  oneOf,
  recordOf,
  required,
} from '@h/options';
import type { ErrorInfo, PipelineOperator, ToolEffect } from '@h/turn';
import { checkOperators, connector } from '@h/turn/bridge';
import { CallScope } from './call-scope.js';
import { denyCanary } from './canary.js';
import type { Approve, HostFormat } from './host.js';
import { describeError as describeAny } from './describe-error.js';
import { HostSession } from './host-session.js';

/** Options of {@link bridge}. */
export interface BridgeOptions<HostMessage> {
  /** The name of the host in messages. */
  readonly host: string;
  readonly format: HostFormat<HostMessage>;
  /**
   * The effects of the host's tools, by name. With them, read-only tools of a session run together and every other
   * tool runs alone.
   *
   * @defaultValue tools run as the host runs them
   */
  readonly effects?: Readonly<Record<string, ToolEffect>> | undefined;
  /**
   * Requests the approval of a person, unless the tool call of the host has its own `approve`. It may be called before
   * the host makes the call.
   *
   * @defaultValue denies every call that requires approval
   */
  readonly approve?: Approve | undefined;
  /**
   * Describes an error of the host's model or tool, so that operators distinguish a rate limit from an invalid key.
   *
   * @defaultValue reads name, message, code, causes, and the status and delays of a response
   */
  readonly describeError?: ((thrown: unknown) => ErrorInfo) | undefined;
  /** Whether an error of a tool is a control-flow error of the host, such as an interrupt. It is rethrown. */
  readonly isControlFlow?: ((thrown: unknown) => boolean) | undefined;
  /**
   * Whether the host calls `end()` after every run that completes. The next run of the session then cancels a turn that
   * it finds open, because its run has failed or was abandoned.
   *
   * @defaultValue `false`: the next run completes such a turn
   */
  readonly endsRuns?: boolean | undefined;
  /**
   * Maximum number of sessions whose turns and changed histories are stored. The least recently used one is dropped
   * first; its next turn starts from the host's history.
   *
   * @defaultValue `1000`, more than the conversations that one process serves at a time
   */
  readonly maxSessions?: number | undefined;
}

/** Operators around the loop of a host. */
export interface Bridge<HostMessage> {
  /**
   * Returns the session with this name, or creates it. Within a tool call of that session, this is a separate session
   * for the agents that the call runs.
   */
  session(name: string): HostSession<HostMessage>;
  /** Ends the turn of a session and deletes the session. */
  forget(name: string): void;
}

/**
 * Runs operators around the loop of another framework, which keeps its loop, its history and its tools.
 *
 * Each run of the host is a turn. The host passes its model and tool calls to the session, which makes each call as it
 * left the operators. Turns and histories belong to a session, never to the bridge.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 *
 * @example
 * ```ts
 * declare const operators: PipelineOperator[];
 * declare const format: HostFormat<Message>;
 * const session = bridge(operators, { host: 'My loop', format }).session('alice');
 * declare const callModel: HostModelCall<Message>['perform'];
 * const { response } = await session.model({ messages: [{ role: 'user', content: 'Hello' }], perform: callModel });
 * ```
 */
export const bridge = <HostMessage>(
  operators: readonly PipelineOperator[],
  options: BridgeOptions<HostMessage>,
): Bridge<HostMessage> => {
  checkOptions('bridge()', options, {
    host: required(nonEmptyString),
    format: required(anyObject),
    effects: recordOf(oneOf('read-only', 'local-write', 'network', 'destructive')),
    approve: anyFunction,
    describeError: anyFunction,
    isControlFlow: anyFunction,
    endsRuns: anyBoolean,
    maxSessions: integerFrom(1),
  });
  const {
    host,
    format,
    effects,
    approve = denyAll(host),
    describeError = describeAny,
    isControlFlow = notControlFlow,
    endsRuns = false,
    maxSessions = 1000,
  } = options;
  // Before the canary is added, which would shift the positions in messages.
  checkOperators(operators, 'bridge()');
  const sessions = new Map<string, HostSession<HostMessage>>();
  const shared = {
    host,
    format,
    operators,
    connect: connector([denyCanary, ...operators]),
    effects,
    approve,
    describeError: orElse(describeError, describeAny),
    isControlFlow: orElse(isControlFlow, notControlFlow),
    endsRuns,
  };
  const forget = (name: string): void => {
    sessions.get(name)?.close('The session was forgotten.');
    sessions.delete(name);
  };
  const isActive = (name: string): boolean => sessions.get(name)?.isActive === true;
  return {
    session: (given) => {
      const caller = CallScope.of(given, isActive);
      const name = caller?.nestedName ?? given;
      const known = sessions.get(name);
      const session = known ?? new HostSession(name, given, shared);
      if (!known) caller?.add((which) => void ((which === 'all' || !session.isActive) && forget(name)));
      sessions.delete(name);
      sessions.set(name, session);
      const [oldest] = sessions.keys();
      if (sessions.size > maxSessions && oldest !== undefined) forget(oldest);
      return session;
    },
    forget,
  };
};

const notControlFlow = (): boolean => false;

/** A function that fails must not hide the error that it was given. */
const orElse =
  <Result>(judge: (thrown: unknown) => Result, other: (thrown: unknown) => Result) =>
  (thrown: unknown): Result => {
    try {
      return judge(thrown);
    } catch {
      return other(thrown);
    }
  };

const denyAll =
  (host: string): Approve =>
  () => ({ decision: 'deny', reason: `The bridge to ${host} cannot ask a person. Set its \`approve\` option.` });
