import { isDeepStrictEqual } from 'node:util';
import {
  MessageList,
  noUsage,
  stop,
  toErrorInfo,
  type JSONValue,
  type NewEvent,
  type ToolOutcome,
  type TurnEnding,
  type TurnEvent,
  type TurnEventOf,
  type UserMessage,
} from '@h/turn';
import { ingestCall, ingestOutcome, type Connection, type ConnectOptions } from '@h/turn/bridge';
import { CallSlot, decisionOn, type CallOptions } from './call-slot.js';
import { endError } from './errors.js';
import type { Approve, GivenApproval, HostToolCall, HostToolResult } from './host.js';
import { toEnding } from './open-call.js';
import { whenAborted } from './when-aborted.js';

/** Settings of a {@link CallTurn}. */
export interface CallTurnOptions extends CallOptions {
  readonly session: string;
  /** Connects the operators. */
  readonly connect: (options: ConnectOptions) => Connection;
  /** The values that operators stored with `session.state`. */
  readonly state: Readonly<Record<string, JSONValue>>;
  /** The approvals of the call in another turn, which are not requested again. */
  readonly approvals: readonly GivenApproval[];
}

/** How long operators may hold the last events of a turn, in milliseconds. That of `harness()`. */
const closeGraceMs = 5_000;

/** Placeholder input of a turn that has no input of a user. It is never sent. */
export const noInput: UserMessage = { role: 'user', content: 'Continue.', metadata: { internal: true } };

/**
 * A turn that consists of one tool call, for calls whose model answer this process has not seen.
 *
 * It has no model, no history and no journal, so it needs no runner: `turn.start`, `session.loaded`, `tool.call` and
 * `tool.result` pass the operators, then `turn.stop` and `turn.end`. As in every turn, the call has one result, whatever
 * the operators do.
 */
export class CallTurn<Value> {
  readonly #options: CallTurnOptions;
  readonly #slot: CallSlot<Value>;
  readonly #abort = new AbortController();
  #connection: Connection | undefined;
  #host: HostToolCall<Value> | undefined;
  /** The call as the operators receive it, once it has entered them. */
  #call: TurnEventOf<'tool.call'>['call'] | undefined;
  #isDecided = false;
  /** The ids of the requests without an answer. */
  readonly #requests = new Set<string>();
  /** The approvals of another turn that no operator has requested again. */
  readonly #given: Set<GivenApproval>;
  #hasResult = false;
  #isBroken = false;
  #ending: TurnEnding | undefined;
  #isClosed = false;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor(options: CallTurnOptions) {
    this.#options = options;
    this.#slot = new CallSlot<Value>(options);
    this.#given = new Set(options.approvals);
  }

  /** Makes the call, or continues it after a control-flow error of the host. */
  async tool(host: HostToolCall<Value>): Promise<HostToolResult<Value>> {
    const { signal } = host;
    this.#slot.attach(host);
    if (this.#host === undefined) this.#begin(host);
    this.#host = host;
    const stopListening = whenAborted(signal, () => {
      this.#abort.abort(signal?.reason);
      this.close('The host cancelled its tool call.');
    });
    try {
      const result = await this.#slot.resultFor(
        (request) => decisionOn(request, this.#options, this.#givenFor(request) ?? host.approve),
        (id, decision) => this.#feed({ type: 'approval.answer', id, ...decision }),
      );
      // Only a paused call of several is released.
      return result as HostToolResult<Value>;
    } finally {
      stopListening();
    }
  }

  /** Returns the approval that another turn requested for the same reason. */
  #givenFor({ reason, call }: TurnEventOf<'approval.request'>): Approve | undefined {
    for (const given of this.#given) {
      if (given.request.reason !== reason || !isDeepStrictEqual(given.request.call, call)) continue;
      this.#given.delete(given);
      return () => given.approval;
    }
    return undefined;
  }

  /** Ends the turn: as completed if the call has its result. */
  close(reason: string): void {
    this.#stop({ outcome: this.#hasResult ? 'completed' : 'cancelled', reason });
  }

  #begin(host: HostToolCall<Value>): void {
    this.#host = host;
    // oxlint-disable-next-line h/no-clock -- ids of turns must be unique and nothing else depends on them
    const turn = crypto.randomUUID();
    this.#connection = this.#options.connect({
      turn,
      accepts: (event) => this.#accepts(event),
      onEvent: (event) => this.#perform(event),
      onError: (error) => this.#fail(error),
    });
    // The setup of an operator has failed.
    if (this.#isClosed) return this.#connection.close();
    return this.#feed({ type: 'turn.start', session: this.#options.session, input: [noInput], trigger: 'user' });
  }

  #feed(event: NewEvent): void {
    if (!this.#isClosed) this.#connection?.feed(Object.freeze(event));
  }

  /** Whether the turn expects this event, as the runner does: each of them once, and nothing after the end. */
  #accepts(event: TurnEvent): boolean {
    if (this.#isClosed) return false;
    switch (event.type) {
      case 'tool.call':
        return !this.#isDecided && this.#ending === undefined && event.call.id === this.#call?.id;
      case 'tool.result':
        return !this.#hasResult && event.call.id === this.#call?.id;
      case 'turn.stop':
        return this.#ending === undefined;
      case 'turn.start':
      case 'session.loaded':
        return this.#call === undefined;
      case 'approval.answer':
        return this.#requests.delete(event.id);
      case 'turn.end':
        return this.#ending !== undefined;
      case 'turn.continue':
      case 'model.request':
        return false;
      default:
        return true;
    }
  }

  #perform(event: TurnEvent): void {
    switch (event.type) {
      case 'turn.start': {
        const { session, state } = this.#options;
        const messages = MessageList.empty;
        return this.#feed({ type: 'session.loaded', session, messages, state, repairs: [] });
      }
      case 'session.loaded':
        return this.#ending === undefined ? this.#decide() : undefined;
      case 'tool.call':
        return this.#decided(event);
      case 'tool.result':
        this.#hasResult = true;
        this.#slot.settle(event);
        return this.#ending === undefined ? undefined : this.#end(this.#ending);
      case 'approval.request':
        this.#requests.add(event.id);
        return this.#slot.askFor(event);
      case 'turn.stop':
        return this.#stopped(event);
      case 'turn.end':
        return this.#close();
      default:
    }
  }

  /** Sends the call into the operators. */
  #decide(): void {
    const { id, name, input } = this.#host as HostToolCall<Value>;
    const effects = this.#options.effects ?? {};
    const effect = Object.hasOwn(effects, name) ? effects[name] : undefined;
    const { call, invalid } = ingestCall({ id, name, input, ...(effect !== undefined && { effect }) });
    this.#call = call;
    if (invalid !== undefined) {
      return this.#answer({ status: 'invalid-input', issues: [invalid], output: errorText(`Not run: ${invalid}`) });
    }
    this.#slot.enterCall(call);
    return this.#feed({ type: 'tool.call', step: 1, index: 0, call });
  }

  /** The operators have decided about the call. */
  #decided({ call, denied }: TurnEventOf<'tool.call'>): void {
    this.#isDecided = true;
    this.#call = call;
    if (denied === undefined) {
      const answer = (outcome: ToolOutcome): void => this.#answer(ingestOutcome(outcome, call.name));
      this.#slot.allow({ call, signal: this.#abort.signal, isHostIncluded: true, answer });
      return;
    }
    const { reason, by } = denied;
    const output = { type: 'execution-denied', reason } as const;
    this.#answer({ status: 'denied', reason, ...(by !== undefined && { by }), output });
  }

  /** Sends the result into the operators. */
  #answer(outcome: ToolOutcome): void {
    const call = this.#call;
    if (call === undefined || this.#hasResult) return;
    this.#slot.enter(outcome);
    this.#feed({ type: 'tool.result', step: 1, call, ...outcome });
  }

  #stop({ outcome, reason, error }: TurnEnding): void {
    if (this.#isClosed || this.#ending !== undefined) return;
    this.#feed(stop(outcome, reason, error));
    this.#limitEnding();
  }

  /** The turn ends: an open call is answered, then `turn.end` follows. */
  #stopped(stopped: TurnEnding): void {
    const ending = toEnding(stopped);
    this.#ending = ending;
    if (this.#hasResult || this.#call === undefined) {
      this.#end(ending);
    } else {
      this.#abort.abort(ended);
      this.#answer(this.#cancelled(ending));
    }
    this.#limitEnding();
  }

  #end(ending: TurnEnding): void {
    this.#feed({ type: 'turn.end', ...ending, steps: 1, usage: noUsage });
  }

  #cancelled({ reason, outcome }: TurnEnding): ToolOutcome {
    const text = reason ?? outcome;
    const where = this.#slot.isRunning
      ? 'Cancelled while it may have been running; what it had done by then remains done:'
      : 'Cancelled before it ran:';
    return { status: 'cancelled', reason: text, output: errorText(`${where} ${text}`) };
  }

  /** An operator failed: the turn ends with its operators; after another failure, without them. */
  #fail(thrown: unknown): void {
    const error = toErrorInfo(thrown);
    const ending: TurnEnding = { outcome: 'error', reason: error.message, error };
    const isConnected = this.#connection !== undefined && error.operator !== undefined;
    if (!isConnected || this.#isBroken || this.#ending !== undefined) {
      this.#ending ??= ending;
      return this.#close();
    }
    this.#isBroken = true;
    return this.#stop(ending);
  }

  /** Ends the turn without its operators if they hold its last events for too long. */
  #limitEnding(): void {
    if (this.#isClosed || this.#graceTimer !== undefined) return;
    this.#graceTimer = setTimeout(() => {
      this.#ending ??= { outcome: 'error', reason: 'An operator withheld turn.end past closeGraceMs.' };
      this.#close();
    }, closeGraceMs);
  }

  /** Ends the turn. A call without a result is answered without the operators. */
  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#graceTimer);
    const ending: TurnEnding = this.#ending ?? { outcome: 'cancelled' };
    if (!this.#hasResult) {
      this.#hasResult = true;
      if (this.#call === undefined) this.#slot.reopen(endError(ending));
      else this.#slot.settle(this.#cancelled(ending));
    }
    if (this.#slot.isRunning) this.#abort.abort(ended);
    this.#connection?.close();
  }
}

const ended = new DOMException('The turn has ended.', 'AbortError');

const errorText = (value: string): ToolOutcome['output'] => ({ type: 'error-text', value });
