import { AsyncResource } from 'node:async_hooks';
import {
  foldJournal,
  MessageList,
  TurnError,
  type JournalRecord,
  type Message,
  type OpenSession,
  type SessionSnapshot,
  type SessionStore,
  type ToolResultOutput,
  type TurnEnding,
  type UserMessage,
} from '@h/turn';
import { captureTurn } from '@h/turn/bridge';
import type {
  Approve,
  GivenApproval,
  HostFormat,
  HostModelCall,
  HostModelResult,
  HostToolCall,
  HostToolResult,
} from './host.js';
import { HostHistory, nothingDelivered, type Delivered } from './host-history.js';
import { HostRun } from './host-run.js';
import { CallScope, type ScopedSession } from './call-scope.js';
import { CallTurn, noInput, type CallTurnOptions } from './call-turn.js';
import type { RunOptions } from './run-options.js';
import { endError } from './errors.js';
import { ToolLock } from './tool-lock.js';

/** Settings shared by all sessions of a bridge. */
export type SessionOptions<HostMessage> = Omit<RunOptions<HostMessage>, 'session' | 'history' | 'store' | 'lock'> & {
  readonly connect: CallTurnOptions['connect'];
  readonly format: HostFormat<HostMessage>;
  readonly host: string;
  /** Whether the host ends every run that completes. */
  readonly endsRuns: boolean;
};

/** A conversation of the host: its turns, one at a time, and the history that operators changed. */
export class HostSession<HostMessage> implements ScopedSession {
  readonly name: string;
  readonly given: string;
  readonly #options: SessionOptions<HostMessage>;
  readonly #history: HostHistory<HostMessage>;
  readonly #lock = new ToolLock();
  #run: HostRun<HostMessage> | undefined;
  #store = new RunStore({ messages: MessageList.empty, state: {} });
  /** Calls from an answer of an earlier process, each in a separate turn, until that turn ends. */
  readonly #alone = new Map<string, CallTurn<unknown>>();
  /** The calls that have no result yet. */
  readonly #scopes = new Map<string, CallScope>();

  /**
   * @param name - the name that operators see
   * @param given - the name that the host gave
   */
  constructor(name: string, given: string, options: SessionOptions<HostMessage>) {
    this.name = name;
    this.given = given;
    this.#options = options;
    this.#history = new HostHistory(options.format);
  }

  get isActive(): boolean {
    return (this.#run !== undefined && !this.#run.end) || this.#alone.size > 0;
  }

  /** Whether a turn of another run of the host has not ended. */
  isBusyFor(run: unknown): boolean {
    return this.#run !== undefined && !this.#run.end && this.#run.token !== run;
  }

  /**
   * Makes a model call of the host through the operators.
   *
   * Rejects with the error of `perform` if no operator handled it, with `TurnStoppedError` if an operator ended the
   * turn, with `OperatorError` if an operator failed, and with the reason of `signal` if the host cancelled the call.
   */
  async model<Value>(call: HostModelCall<HostMessage, Value>): Promise<HostModelResult<Value>> {
    const run = this.#runOrError(call);
    if (run.end) throw endError(run.end);
    return run.model(call) as Promise<HostModelResult<Value>>;
  }

  #runOrError(call: HostModelCall<HostMessage>): HostRun<HostMessage> {
    try {
      return this.#runFor(call);
    } catch (error) {
      if (this.#run?.isCallOpen === false) this.#run.fail(error);
      throw error;
    }
  }

  /**
   * Makes a tool call of the host through the operators.
   *
   * Resolves with the result for the model, also if the call was denied. Rejects with the error of `run`, unless an
   * operator changed that outcome.
   */
  async tool<Value>(given: HostToolCall<Value>): Promise<HostToolResult<Value>> {
    const scope = this.#scopes.get(given.id) ?? new CallScope(this, given.id);
    this.#scopes.set(given.id, scope);
    const inHost = AsyncResource.bind(<Result>(callback: () => Result): Result => callback());
    // A call that operators held would otherwise run in the async context of the model call or of another tool call.
    const run: typeof given.run = (...parts) => {
      const inTurn = captureTurn();
      return inHost(() => inTurn(() => scope.run(() => given.run(...parts))));
    };
    try {
      const result = await this.#tool({ ...given, run }, scope);
      this.#endScope(scope, given.id);
      return result;
    } catch (error) {
      // The host repeats the call after an interrupt, and with it the agents that the call ran.
      if (!this.#options.isControlFlow(error)) this.#endScope(scope, given.id);
      throw error;
    }
  }

  #endScope(scope: CallScope, id: string): void {
    this.#scopes.delete(id);
    scope.forget('ended');
  }

  /** The approvals of a call that has not ended, in the order of their answers. */
  approvalsOf(id: string): readonly GivenApproval[] {
    return this.#scopes.get(id)?.approvals ?? [];
  }

  #approveIn<Value>(scope: CallScope, { approve = this.#options.approve }: HostToolCall<Value>): Approve {
    return async (request) => {
      const approval = await approve(request);
      scope.approvals.push({ request, approval });
      return approval;
    };
  }

  async #tool<Value>(given: HostToolCall<Value>, scope: CallScope): Promise<HostToolResult<Value>> {
    const call = { ...given, approve: this.#approveIn(scope, given) };
    const calls = this.#run?.calls;
    const slot = calls?.get<Value>(call.id);
    if (slot) {
      slot.attempts += 1;
      slot.asksInCall = given.approve !== undefined;
    }
    if (calls && slot && !this.#alone.has(call.id) && (await slot.isEnteredAs(call))) {
      const result = await calls.make(call, slot);
      if (result) return result;
    }
    try {
      const alone = await this.#toolAlone(call, scope);
      if (calls && slot) calls.finishDecided(slot, { outcome: alone.outcome, value: alone.returned?.value as Value });
      return alone;
    } catch (error) {
      if (calls && slot) {
        if (this.#options.isControlFlow(error)) calls.pause(slot);
        else calls.finishDecided(slot, { error });
      }
      throw error;
    }
  }

  /** Makes a call in a turn with this call only. */
  async #toolAlone<Value>(call: HostToolCall<Value>, { approvals }: CallScope): Promise<HostToolResult<Value>> {
    const turn = this.#alone.get(call.id) ?? this.#callTurn(approvals);
    this.#alone.set(call.id, turn);
    const release = (): void => {
      this.#alone.delete(call.id);
      turn.close(answered);
    };
    try {
      const result = (await turn.tool(call)) as HostToolResult<Value>;
      // The session ends the turn if it ends first.
      if (call.scheduleEnd === undefined) release();
      else call.scheduleEnd(release);
      return result;
    } catch (error) {
      // The host repeats the call after an interrupt.
      if (!this.#options.isControlFlow(error)) release();
      throw error;
    }
  }

  #callTurn(approvals: readonly GivenApproval[]): CallTurn<unknown> {
    const { state } = this.#store.fold();
    return new CallTurn({ ...this.#options, session: this.name, lock: this.#lock, state, approvals });
  }

  /**
   * Resolves with the end of the current turn, if an operator ended it: as soon as the turn has ended or cannot
   * continue without the host. Hosts that ask after each step whether to continue call it there. A turn whose run the
   * host has aborted ends as cancelled.
   */
  async stopped(): Promise<TurnEnding | undefined> {
    const run = this.#run;
    if (run?.isAborted === true) run.finish('The host aborted the run.');
    await run?.idle();
    const { end } = run ?? {};
    return end && end.outcome !== 'completed' && end.outcome !== 'cancelled' ? end : undefined;
  }

  /** Returns the output of a call of the current turn as the model reads it, if the call has a result. */
  outputOf(id: string): ToolResultOutput | undefined {
    return this.#run?.calls.get(id)?.output;
  }

  /**
   * Ends the current turn, if it has not ended. Call it when the host's loop has ended. Calls that the host did not run
   * are answered as skipped; a turn of which nothing is running ends as completed, any other as cancelled.
   *
   * @param failure - the error with which the loop of the host has ended; the turn then ends as an error
   * @param isAborted - whether the host aborted the run; by default, whether the signal of its last model call is aborted
   */
  end(reason = 'The host ended the run.', failure?: Error, isAborted?: boolean): void {
    this.#run?.finish(reason, { failure, isAbandoned: isAborted });
    for (const turn of this.#alone.values()) turn.close(reason);
    this.#alone.clear();
  }

  /** Ends the current turn, and forgets the sessions of agents that its calls ran. */
  close(reason: string): void {
    this.end(reason);
    for (const scope of this.#scopes.values()) scope.forget('all');
    this.#scopes.clear();
  }

  /** Returns the run of a model call, or starts it. */
  #runFor(call: HostModelCall<HostMessage>): HostRun<HostMessage> {
    const run = this.#run;
    if (run?.isCallOpen) throw sessionBusy(this.name, this.#options.host);
    const delivered = run?.calls.delivered ?? nothingDelivered;
    if (run && run.token === call.run && this.#belongsTo(run, call, delivered)) return run;
    if (run && this.#isResumed(run, call, delivered)) {
      run.token = call.run;
      return run;
    }
    run?.finish('The host began another run.', {
      messages: call.messages,
      isAbandoned: this.#options.endsRuns || undefined,
    });
    return this.#begin(call, delivered);
  }

  /** Whether a run of the host only brings the results of calls that the run before left open. */
  #isResumed(run: HostRun<HostMessage>, { messages }: HostModelCall<HostMessage>, delivered: Delivered): boolean {
    if (run.end || delivered.calls.size === 0) return false;
    return this.#history.continues(messages, delivered) && !this.#history.hasNewInput(messages);
  }

  /** Whether a call continues a running run, or repeats the call of a stopped run. */
  #belongsTo(run: HostRun<HostMessage>, { messages }: HostModelCall<HostMessage>, delivered: Delivered): boolean {
    const isContinued = this.#history.continues(messages, delivered);
    if (!run.end) return isContinued || delivered.calls.size > 0;
    if (run.end.outcome === 'completed' || run.isRepeatable) return false;
    return isContinued && !this.#history.hasNewInput(messages);
  }

  #begin({ messages: host, run: token }: HostModelCall<HostMessage>, delivered: Delivered): HostRun<HostMessage> {
    const { messages: own, state } = this.#store.fold();
    const history = MessageList.of(own);
    const update = this.#history.update(host, history, delivered);
    const messages = update.type === 'replace' ? update.messages : [...history, ...(update.messages ?? [])];
    const inputStart = messages.findLastIndex(({ role }) => role !== 'user') + 1;
    const input = messages.slice(inputStart).filter(isInput);
    // The first request then adopts the whole history of the host.
    if (input.length === 0 || input.length < messages.length - inputStart) this.#history.reset();
    this.#store = new RunStore({ messages: MessageList.of(messages.slice(0, inputStart)), state });
    const run = new HostRun(this.#runOptions(this.#history, this.#store), token);
    this.#run = run;
    run.begin(input.length > 0 ? input : [noInput]);
    return run;
  }

  #runOptions(history: HostHistory<HostMessage>, store: SessionStore): RunOptions<HostMessage> {
    return { ...this.#options, session: this.name, history, lock: this.#lock, store };
  }
}

const answered = 'The call has its result.';

const isInput = (message: Message): message is UserMessage => message.role === 'user' && message.content.length > 0;

const sessionBusy = (session: string, host: string): TurnError =>
  new TurnError(
    'session-busy',
    `${host} made two model calls at once in session ${JSON.stringify(session)}. Give each conversation a separate session.`,
  );

/** Stores the journal of one run in memory. It need not outlive the process, because the host owns the history. */
class RunStore implements SessionStore {
  readonly #snapshot: SessionSnapshot;
  readonly #journal: JournalRecord[] = [];

  constructor(snapshot: SessionSnapshot) {
    this.#snapshot = snapshot;
  }

  /** Returns the current state of the session. */
  fold(): SessionSnapshot {
    return this.#journal.length === 0 ? this.#snapshot : foldJournal(this.#snapshot, this.#journal);
  }

  open(): OpenSession {
    return {
      snapshot: this.#snapshot,
      journal: [],
      append: (record) => {
        this.#journal.push(record);
      },
      close: () => undefined,
    };
  }

  locate(): undefined {
    return undefined;
  }

  unfinished(): readonly [] {
    return [];
  }
}
