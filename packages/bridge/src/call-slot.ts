import { AsyncResource } from 'node:async_hooks';
import { isDeepStrictEqual } from 'node:util';
import {
  toErrorInfo,
  type ApprovalDecision,
  type ErrorInfo,
  type ToolCall,
  type ToolEffect,
  type ToolOutcome,
  type TurnEventOf,
} from '@h/turn';
import { checkDecision } from '@h/turn/bridge';
import type { Approve, HostToolCall, HostToolResult } from './host.js';
import type { ToolLock } from './tool-lock.js';

/** How calls of the host are made. */
export interface CallOptions {
  readonly lock: ToolLock;
  readonly effects: Readonly<Record<string, ToolEffect>> | undefined;
  readonly approve: Approve;
  readonly describeError: (thrown: unknown) => ErrorInfo;
  readonly isControlFlow: (thrown: unknown) => boolean;
}

/** The permission of the tool driver to run a call. */
export interface Permission {
  readonly call: ToolCall;
  readonly signal: AbortSignal;
  /** Whether the signal of the host aborts `signal` too. */
  readonly isHostIncluded?: boolean;
  answer(outcome: ToolOutcome): void;
}

/** The next action of the host for a call: return the result, request approval, or make the call in a separate turn. */
export type NextAction<Value> =
  | { readonly type: 'released' }
  | { readonly type: 'result'; readonly result: HostToolResult<Value> }
  | { readonly type: 'thrown'; readonly error: unknown }
  | { readonly type: 'approval'; readonly request: TurnEventOf<'approval.request'> };

/** The outcome of the host's tool, before operators changed it. */
export type Ran<Value> =
  | { readonly outcome: ToolOutcome; readonly value: Value }
  | { readonly outcome: ToolOutcome; readonly error: unknown };

/** Requests an approval. A failure, or an invalid answer, denies it, except for a control-flow error of the host. */
export const decisionOn = async (
  request: TurnEventOf<'approval.request'>,
  { isControlFlow, approve }: Pick<CallOptions, 'isControlFlow' | 'approve'>,
  approveCall: Approve = approve,
): Promise<ApprovalDecision> => {
  try {
    return checkDecision(await approveCall(request));
  } catch (error) {
    if (isControlFlow(error)) throw error;
    return { decision: 'deny', reason: `The approval failed: ${toErrorInfo(error).message}` };
  }
};

const runNow = (run: () => void): void => run();

/** Stands for the call of the host when it has its result. */
const settledHost: HostToolCall<never> = {
  id: '',
  name: '',
  input: undefined,
  run: () => Promise.reject(new Error('The call has its result.')),
};

/** A call of the current step. It runs once both the turn and the host have requested it. */
export class CallSlot<Value> {
  /** How often the host has made the call. When it resumes, it makes all paused calls of the step again. */
  attempts = 0;
  /** The last attempt in which the host paused before the operators had decided about the call. */
  pausedAttempt = 0;
  /** Whether approvals are requested within the call of the host, which has its own `approve`. */
  asksInCall = false;
  #permission: Permission | undefined;
  /** Runs a function in the asynchronous context in which the operators allowed the call. */
  #inTurn: (run: () => void) => void = runNow;
  #host: HostToolCall<Value> | undefined;
  #isRunning = false;
  #isReleased = false;
  #isChanged = false;
  /** The call as it entered the operators. */
  #enteredCall: ToolCall | undefined;
  #output: ToolOutcome['output'] | undefined;
  #ran: Ran<Value> | undefined;
  /** The output before the operators. */
  #entered: ToolOutcome['output'] | undefined;
  #interrupted: { readonly error: unknown } | undefined;
  #result: NextAction<Value> | undefined;
  readonly #approvals = new Set<TurnEventOf<'approval.request'>>();
  #decided: ToolOutcome | undefined;
  #wake: (() => void) | undefined;
  #onSettled: (() => void) | undefined;
  readonly #options: CallOptions;

  constructor(options: CallOptions) {
    this.#options = options;
  }

  /** Whether an operator changed the result. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** Whether the host's tool has started and not ended. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Whether the host has made the call, or need not make it because it has its result. */
  get isAwaited(): boolean {
    return this.#host !== undefined || this.#ran !== undefined || this.#result !== undefined;
  }

  /** Whether the host makes the other calls of the step only after this one. */
  get isMadeAlone(): boolean {
    return this.#host?.isMadeAlone === true;
  }

  /** Whether the host waits for the operators. */
  get isBlocked(): boolean {
    return this.#host !== undefined && this.#permission === undefined && this.#result === undefined;
  }

  /** The approval requests that wait for an answer, in their order. */
  get approvals(): ReadonlySet<TurnEventOf<'approval.request'>> {
    return this.#approvals;
  }

  /** The outcome of a separate turn, as the host has it. Operators of this turn must not change it again. */
  get decided(): ToolOutcome | undefined {
    return this.#decided;
  }

  /** The output as the model reads it. */
  get output(): ToolOutcome['output'] | undefined {
    return this.#output;
  }

  /** The call enters the operators. */
  enterCall(call: ToolCall): void {
    this.#enteredCall = call;
  }

  /** Whether the call entered the operators with the name and an input that become those of the host, or not yet. */
  async isEnteredAs({ name, input, parse }: HostToolCall<Value>): Promise<boolean> {
    const entered = this.#enteredCall;
    if (parse === undefined || entered === undefined) return true;
    if (entered.name !== name) return false;
    // Most hosts pass what the model wrote, which need not be parsed again.
    if (isDeepStrictEqual(entered.input, input)) return true;
    try {
      return isDeepStrictEqual(await parse(entered.input), input);
    } catch {
      return false;
    }
  }

  /** Handles the permission of the operators. */
  allow(permission: Permission): void {
    this.#permission = permission;
    this.#inTurn = AsyncResource.bind((run: () => void) => run());
    if (this.#ran) permission.answer(this.#ran.outcome);
    else this.#start();
  }

  /**
   * Handles a pause of the host for another call of the step: the operators cannot decide before the host resumes, and
   * the host may wait for this call before it pauses. So the call is made in a separate turn, unless it is allowed.
   */
  release(): void {
    if (this.#permission || this.#approvals.size > 0) return;
    this.#isReleased = true;
    this.#wake?.();
  }

  /** Handles the call of the host, which may repeat after a control-flow error. */
  attach(host: HostToolCall<Value>): void {
    this.#host = host;
    this.#start();
  }

  /** Handles the end of the call in a separate turn. */
  finishDecided(ended: Ran<Value> | { readonly error: unknown }): void {
    if (this.#output !== undefined) return;
    const ran = 'outcome' in ended ? ended : { outcome: this.#failed(ended.error), error: ended.error };
    this.#decided = ran.outcome;
    this.#finish(ran);
  }

  /** Fails the call of the host. The call stays open: the host may repeat it after a control-flow error. */
  reopen(error: unknown): void {
    this.#isRunning = false;
    this.#host = undefined;
    this.#interrupted = { error };
    this.#wake?.();
  }

  /** Answers a call that the operators allowed but the host did not run. */
  answer(outcome: ToolOutcome): void {
    if (!this.#isRunning && !this.#ran) this.#permission?.answer(outcome);
  }

  /** Handles an approval request of an operator for this call. */
  askFor(request: TurnEventOf<'approval.request'>): void {
    this.#approvals.add(request);
    this.#wake?.();
  }

  /** Handles the decision of a person. */
  answered(request: TurnEventOf<'approval.request'>): void {
    this.#approvals.delete(request);
  }

  /** Handles a result that enters the operators. */
  enter({ output }: ToolOutcome): void {
    this.#entered = output;
  }

  /** Handles a result that has left the operators. */
  settle(outcome: ToolOutcome): void {
    const ran = this.#ran;
    this.#output = outcome.output;
    this.#isChanged = this.#entered !== outcome.output;
    if (this.#isChanged || !ran) this.#settleWith({ type: 'result', result: { outcome } });
    else if ('error' in ran) this.#settleWith({ type: 'thrown', error: ran.error });
    else this.#settleWith({ type: 'result', result: { outcome, returned: { value: ran.value } } });
  }

  /**
   * Resolves with the result, or with `undefined` if the call was released.
   *
   * @param decide - requests an approval
   * @param answer - passes its answer to the operators, unless they have decided in the meantime
   */
  async resultFor(
    decide: (request: TurnEventOf<'approval.request'>) => Promise<ApprovalDecision>,
    answer: (id: string, decision: ApprovalDecision) => void,
  ): Promise<HostToolResult<Value> | undefined> {
    for (;;) {
      const action = await this.#next();
      if (action.type === 'released') return undefined;
      if (action.type === 'result') return action.result;
      if (action.type === 'thrown') throw action.error;
      // Runs in the asynchronous context of the host's call, which interrupts of some hosts require.
      // The operators may decide in the meantime, for instance when the request expires.
      const decision = await Promise.race([decide(action.request), this.#settled()]);
      if (decision === undefined) continue;
      this.#approvals.delete(action.request);
      answer(action.request.id, decision);
    }
  }

  /** Resolves when the call has its result. */
  #settled(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#onSettled = () => resolve(undefined);
    });
  }

  async #next(): Promise<NextAction<Value>> {
    for (;;) {
      if (this.#result) return this.#result;
      if (this.#interrupted) {
        const { error } = this.#interrupted;
        this.#interrupted = undefined;
        return { type: 'thrown', error };
      }
      const [request] = this.#approvals;
      if (request) return { type: 'approval', request };
      if (this.#isReleased && !this.#permission) {
        this.#isReleased = false;
        this.#host = undefined;
        return { type: 'released' };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #start(): void {
    const permission = this.#permission;
    const host = this.#host;
    if (!permission || !host || this.#isRunning || this.#ran || this.#result) return;
    this.#isRunning = true;
    this.#inTurn(() => void this.#run(permission, host));
  }

  /** Runs the tool of the host. */
  async #run({ call, signal: own, isHostIncluded }: Permission, host: HostToolCall<Value>): Promise<void> {
    const { lock, effects, isControlFlow } = this.#options;
    const signal = host.signal === undefined || isHostIncluded === true ? own : AbortSignal.any([own, host.signal]);
    const isChanged = call.input !== this.#enteredCall?.input;
    try {
      const run = (): Promise<Ran<Value>> => {
        // The call may have been cancelled while it waited.
        signal.throwIfAborted();
        return host.run(call, signal, isChanged);
      };
      const ran = effects === undefined ? await run() : await lock.run(call.effect === 'read-only', run, signal);
      this.#finish(ran);
    } catch (error) {
      if (isControlFlow(error)) this.reopen(error);
      else this.#finish({ outcome: this.#failed(error), error });
    }
  }

  #finish(ran: Ran<Value>): void {
    this.#isRunning = false;
    if (!this.#result) this.#ran = ran;
    this.#permission?.answer(ran.outcome);
  }

  #failed(thrown: unknown): ToolOutcome {
    const error = this.#options.describeError(thrown);
    // The whole message, as the model reads it: the description of a host may truncate it and hide keys in it, and what
    // operators do not see they cannot remove.
    return { status: 'failed', error, output: { type: 'error-text', value: toErrorInfo(thrown).message } };
  }

  #settleWith(action: NextAction<Value>): void {
    this.#result = action;
    this.#onSettled?.();
    this.#wake?.();
    // Functions, and promises with their async context, hold the step and the run of the host, which end before the
    // session does.
    if (this.#host) this.#host = settledHost;
    this.#permission = undefined;
    this.#inTurn = runNow;
    this.#ran = undefined;
    this.#onSettled = undefined;
    this.#wake = undefined;
  }
}
