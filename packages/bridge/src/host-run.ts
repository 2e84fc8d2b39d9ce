import {
  harness,
  intercept,
  MessageList,
  noUsage,
  repairHistory,
  stop,
  toErrorInfo,
  TurnError,
  type Agent,
  type ApprovalDecision,
  type Decision,
  type Message,
  type ModelDelta,
  type ModelResponse,
  type PipelineOperator,
  type ToolCall,
  type ToolDefinition,
  type ToolDriverOutput,
  type ToolOutcome,
  type ToolResultOutput,
  type TurnEvent,
  type TurnEventOf,
  type UserMessage,
} from '@h/turn';
import { Observable, type Subscriber } from 'rxjs';
import { denyCanary } from './canary.js';
import { CallSlot, decisionOn } from './call-slot.js';
import type { Approve, HostModelCall, HostModelResult, HostToolCall, HostToolResult } from './host.js';
import { nothingDelivered, type Delivered } from './host-history.js';
import { definitionsOf, notRun, outcomesIn } from './host-tools.js';
import { answerShown, deliveredOutcomes, OpenCall, partsOf } from './open-call.js';
import { performCall } from './perform-call.js';
import type { RunOptions } from './run-options.js';

/**
 * Maximum number of model calls within one call of the host. It stops operators that retry forever and is far above the
 * retries of any operator.
 */
const maxAttempts = 100;

/**
 * One run of a host's loop, which is one turn.
 *
 * The turn has a separate runner with the model and the tools of the host. The next request of the runner waits until
 * the host calls its model, and a call that the operators allow runs when the host runs it. The host keeps its loop,
 * and the operators observe the same turn as in `harness()`.
 */
export class HostRun<HostMessage> {
  /** The id of the run in the host. */
  token: unknown;
  readonly #options: RunOptions<HostMessage>;
  readonly #agent: Agent;
  readonly #abort = new AbortController();
  readonly #slots = new Map<string, CallSlot<unknown>>();
  #definitions: readonly ToolDefinition[] = [];
  #open: OpenCall<HostMessage> | undefined;
  /** The signal of the latest model call, which most hosts use for the whole run. */
  #signal: AbortSignal | undefined;
  /** A request that waits for the host's next model call. */
  #held: { readonly event: TurnEventOf<'model.request'>; readonly resume: (decision: Decision) => void } | undefined;
  /** The latest answer before the operators. */
  #entered: TurnEventOf<'model.response'> | undefined;
  #delivered:
    | { readonly hasAnswer: boolean; readonly isChanged: boolean; readonly calls: readonly string[] }
    | undefined;
  readonly #idle: (() => void)[] = [];
  /** Whether the host paused for an approval. */
  #isPaused = false;
  /** Why the host ended its loop. */
  #finished: string | undefined;
  #lastText: Message | undefined;
  #end: TurnEventOf<'turn.end'> | undefined;

  constructor(options: RunOptions<HostMessage>, token: unknown) {
    this.token = token;
    this.#options = options;
    this.#agent = harness({
      model: (request, { signal }) => {
        if (!this.#open) throw new TypeError('A model request left the operators while the host made no model call.');
        return performCall(this.#open, request, { ...options, signal });
      },
      tools: { definitions: () => this.#definitions, run: (calls, { signal }) => this.#runTools(calls, signal) },
      sessions: options.store,
      maxModelCalls: Infinity,
    }).pipe(this.#head(), denyCanary, ...options.operators, this.#tail());
  }

  /** The end event of the turn, if it has ended. */
  get end(): TurnEventOf<'turn.end'> | undefined {
    return this.#end;
  }

  get isCallOpen(): boolean {
    return this.#open !== undefined;
  }

  /** The messages that the host received since its last model call. */
  get delivered(): Delivered {
    if (!this.#delivered) return nothingDelivered;
    const { hasAnswer, isChanged, calls } = this.#delivered;
    return {
      answer: hasAnswer ? { isChanged } : undefined,
      calls: new Map(calls.map((id) => [id, { isChanged: this.#slots.get(id)?.isChanged ?? true }])),
    };
  }

  /** Starts the turn. */
  begin(input: readonly UserMessage[]): void {
    const { session } = this.#options;
    this.#agent.turn({ session, input, signal: this.#abort.signal }).subscribe((event) => this.#take(event));
  }

  /** Makes a model call of the host through the operators. */
  model(call: HostModelCall<HostMessage>): Promise<HostModelResult<unknown>> {
    const open = new OpenCall(call);
    const onAbort = (): void => {
      open.reject(call.signal?.reason);
      this.close('The host cancelled its model call.');
    };
    this.#open = open;
    this.#signal = call.signal;
    this.#definitions = definitionsOf(call, this.#options.effects);
    if (call.signal?.aborted) onAbort();
    call.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      this.#answerMissing(call.messages);
      this.#resume((event) => this.#prepare(event, open));
    } catch (error) {
      open.reject(error);
      this.fail(error);
    }
    return open.promise.finally(() => {
      call.signal?.removeEventListener('abort', onAbort);
      if (this.#open === open) this.#open = undefined;
    });
  }

  /** Ends the turn with an error, such as that of a format that cannot read a message of the host. */
  fail(thrown: unknown): void {
    const error = toErrorInfo(thrown);
    if (this.#held) this.#resume(() => stop('error', error.message, error));
    else this.close(error.message);
  }

  /** Continues the turn if it waits for a model call of the host. */
  #resume(decide: (event: TurnEventOf<'model.request'>) => Decision): void {
    const held = this.#held;
    if (!held) return;
    const decision = decide(held.event);
    this.#held = undefined;
    held.resume(decision);
  }

  /** Whether the host makes the call with the input of the answer. */
  async isSameCall({ id, input, parse }: HostToolCall<unknown>): Promise<boolean> {
    return parse === undefined || (await this.#slots.get(id)?.isEnteredWith(input, parse)) !== false;
  }

  /** Whether the turn knows this call and has not ended. */
  has(id: string): boolean {
    return this.#slots.has(id);
  }

  /**
   * Makes a tool call of the host through the operators.
   *
   * Resolves with `undefined` if the host paused for another call of the step: the call is then made in a separate
   * turn, which reports to {@link finishCall}.
   */
  async tool<Value>(call: HostToolCall<Value>): Promise<HostToolResult<Value> | undefined> {
    const slot = this.#slots.get(call.id) as CallSlot<Value>;
    const onAbort = (): void => this.close('The host cancelled its tool call.');
    if (call.signal?.aborted) onAbort();
    call.signal?.addEventListener('abort', onAbort, { once: true });
    slot.attach(call);
    if (this.#isPaused) slot.release();
    this.#notify();
    this.#askForOthers(slot);
    try {
      return await slot.resultFor(
        (request) => this.#decisionIn(request, call),
        (id, decision) => {
          this.#isPaused = false;
          this.#agent.answer(id, decision);
        },
      );
    } finally {
      call.signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Handles the end of a call that was made in a separate turn. */
  finishCall(
    id: string,
    ended: { readonly outcome: ToolOutcome; readonly value: unknown } | { readonly error: unknown },
  ): void {
    const slot = this.#slots.get(id);
    if (slot?.output === undefined) slot?.finishDecided(ended);
  }

  /** Requests an approval within the call of the host, which may pause for it. */
  async #decisionIn(request: TurnEventOf<'approval.request'>, call: HostToolCall<unknown>): Promise<ApprovalDecision> {
    try {
      return await this.#decisionOn(request, call.approve);
    } catch (error) {
      this.#isPaused = true;
      for (const id of this.#delivered?.calls ?? []) this.#slots.get(id)?.release();
      throw error;
    }
  }

  /** Requests the approvals of other calls: a host that makes one call after the other waits for this one first. */
  #askForOthers(slot: object): void {
    if (this.#options.asksInCall) return;
    for (const other of this.#slots.values()) {
      const { approval } = other;
      if (approval === undefined || other === slot || other.isAwaited) continue;
      other.answered();
      this.#decide(approval);
    }
  }

  #decisionOn(
    request: TurnEventOf<'approval.request'>,
    approve: Approve = this.#options.approve,
  ): Promise<ApprovalDecision> {
    return decisionOn(request, approve, this.#options.isControlFlow);
  }

  /** Whether the host has the results of all calls that it was given, or will never ask for them. */
  get #isWaitingForHost(): boolean {
    if (this.#end || this.#held) return true;
    return (this.#delivered?.calls ?? []).some((id) => this.#slots.get(id)?.isAwaited === false);
  }

  /** Resolves as soon as the turn has ended or cannot continue without the host. */
  async idle(): Promise<void> {
    while (!this.#isWaitingForHost) {
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
    }
  }

  /** The output of a call as the model reads it, if the call has a result. */
  outputOf(id: string): ToolResultOutput | undefined {
    return this.#slots.get(id)?.output;
  }

  /**
   * Ends the turn because the loop of the host has ended: as completed, if nothing of it is running and the host has not
   * aborted it between two calls.
   */
  finish(
    reason: string,
    { messages = [], failure, isAbandoned = this.#signal?.aborted === true }: LoopEnd<HostMessage> = {},
  ): void {
    if (this.#end) return;
    if (!this.#open) this.#answerMissing(messages);
    this.#finished = reason;
    if (failure) this.fail(failure);
    else if (this.#held && !isAbandoned) this.#resume(() => stop('completed', reason));
    else this.close(reason);
  }

  /** Ends the turn, unless it has ended. */
  close(reason: string): void {
    this.#abort.abort(new TurnError('run-ended', reason));
  }

  #notify(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** The first operator of the pipe, which replaces the runner's requests by those of the host. */
  #head(): PipelineOperator {
    return intercept('host', () => ({
      decide: {
        'model.request': (event) => {
          if (this.#open) return this.#prepare(event, this.#open);
          // An operator continues a turn whose host has ended its loop.
          if (this.#finished !== undefined) this.close(this.#finished);
          // An observable: the turn continues, and ends, in the call that resumes it.
          return new Observable<Decision>((subscriber) => {
            const resume = (decision: Decision): void => {
              subscriber.next(decision);
              subscriber.complete();
            };
            this.#held = { event, resume };
            this.#notify();
          });
        },
        'model.response': (event) => {
          this.#entered = event;
        },
        'tool.call': ({ call }) => this.#slots.get(call.id)?.enterCall(call),
        'tool.result': (event) => this.#slots.get(event.call.id)?.enter(event),
      },
    }));
  }

  /** The last operator of the pipe, which restores results that the operators of a separate turn decided about. */
  #tail(): PipelineOperator {
    return intercept('host-results', () => ({
      decide: {
        'tool.result': (event) => {
          const decided = this.#slots.get(event.call.id)?.decided;
          return decided && { ...event, ...decided };
        },
      },
    }));
  }

  /** Replaces the request of the runner by the request of the host. */
  #prepare(event: TurnEventOf<'model.request'>, open: OpenCall<HostMessage>): Decision {
    open.attempts += 1;
    if (open.attempts > maxAttempts) return stop('max-steps', askedTooOften);
    if (event.attempt > 1 && open.call.canRestart?.() === false) {
      const failure = open.failure ?? answerShown;
      return stop('error', failure.message, failure);
    }
    const { system = [], settings = {}, tools = [], model, messages } = open.call;
    const request = {
      ...event,
      ...(model !== undefined && event.model === undefined && { model }),
      system,
      settings,
      tools,
    };
    if (open.isUpdated) return request;
    open.isUpdated = true;
    const update = this.#options.history.update(messages, event.messages, this.delivered);
    this.#delivered = undefined;
    if (update.type === 'same') return request;
    const changed = repairHistory(update.messages).messages;
    return update.type === 'append'
      ? [
          { type: 'history.append', messages: changed, origin: 'host' },
          { ...request, messages: event.messages.concat(changed) },
        ]
      : [
          { type: 'history.replace', messages: changed, origin: 'host' },
          { ...request, messages: MessageList.of(changed) },
        ];
  }

  #runTools(calls: readonly ToolCall[], signal: AbortSignal): Observable<ToolDriverOutput> {
    return new Observable((subscriber: Subscriber<ToolDriverOutput>) => {
      for (const call of calls) {
        const answer = (outcome: ToolOutcome): void => subscriber.next({ type: 'result', id: call.id, outcome });
        this.#slots.get(call.id)?.allow({ call, signal, answer });
      }
    });
  }

  #take(event: TurnEvent): void {
    switch (event.type) {
      case 'model.delta':
        return this.#passDelta(event.delta);
      case 'model.response':
        return this.#deliver(event);
      case 'model.error':
        if (event.retrying === true && this.#open) this.#open.failure = event.error;
        return undefined;
      case 'tool.result':
        return this.#slots.get(event.call.id)?.settle(event);
      case 'approval.request':
        return this.#ask(event);
      case 'history.append':
        if (this.#open) this.#lastText = event.messages.findLast(({ role }) => role === 'assistant') ?? this.#lastText;
        return undefined;
      case 'turn.end':
        return this.#finish(event);
      default:
    }
  }

  /** Passes a delta to the host, whose client may have left: then its model call fails. */
  #passDelta(delta: ModelDelta): void {
    const open = this.#open;
    try {
      open?.call.onDelta?.(delta);
    } catch (error) {
      open?.reject(error);
      this.close('The host did not accept a delta of the answer.');
    }
  }

  /**
   * Returns an answer with calls to the host. Any other answer is held until the turn ends, because it may continue.
   */
  #deliver(event: TurnEventOf<'model.response'>): void {
    const open = this.#open;
    const calls = callIds(event);
    for (const id of calls) this.#slots.set(id, new CallSlot(this.#options));
    open?.answers.push(event);
    const isChanged =
      event.content !== this.#entered?.content ||
      event.finishReason !== this.#entered.finishReason ||
      callIds(open?.performed ?? event).some((id, index) => id !== calls[index]) ||
      (open?.answers.length ?? 0) > 1;
    if (open) open.isChanged = isChanged;
    this.#delivered = { hasAnswer: event.content.length > 0, isChanged, calls };
    if (calls.length > 0 && open?.answer()) this.#open = undefined;
  }

  /** Answers the calls that the host did not make with the results in its history. */
  #answerMissing(messages: readonly HostMessage[]): void {
    const open = (this.#delivered?.calls ?? []).filter((id) => this.#slots.get(id)?.isRunning === false);
    if (open.length === 0) return;
    const outcomes = outcomesIn(this.#options.history.newResults(messages));
    for (const id of open) {
      const slot = this.#slots.get(id);
      slot?.answer(outcomes.get(id) ?? notRun);
      if (!slot?.approval) continue;
      // The host no longer waits for this approval, so it would never be answered.
      this.#agent.answer(slot.approval.id, { decision: 'deny', reason: 'The host continued without an answer.' });
      slot.answered();
    }
  }

  #ask(request: TurnEventOf<'approval.request'>): void {
    const slot = request.call && this.#slots.get(request.call.id);
    const isBlocking = !this.#options.asksInCall && [...this.#slots.values()].some((other) => other.isBlocked);
    if (slot && (slot.isAwaited || !isBlocking)) return slot.askFor(request);
    this.#decide(request);
  }

  /** Requests an approval outside of a call of the host. */
  #decide(request: TurnEventOf<'approval.request'>): void {
    void this.#decisionOn(request)
      .catch((error: unknown) => ({ decision: 'deny', reason: toErrorInfo(error).message }) as const)
      .then((decision) => this.#agent.answer(request.id, decision));
  }

  #finish(end: TurnEventOf<'turn.end'>): void {
    this.#end = end;
    this.#notify();
    const open = this.#open;
    if (!open) return;
    if (end.outcome === 'replied' && this.#lastText) {
      open.answers.push({ content: partsOf(this.#lastText), finishReason: 'stop', usage: noUsage });
      open.isChanged = true;
    }
    this.#open = undefined;
    if (open.answers.length > 0 && deliveredOutcomes.has(end.outcome)) {
      open.answer(end);
    } else {
      this.#delivered = undefined;
      open.fail(end);
    }
  }
}

/** How the loop of the host has ended. */
interface LoopEnd<HostMessage> {
  /** The history of the host, with the results of calls that it ran by itself. */
  readonly messages?: readonly HostMessage[] | undefined;
  /** The error of the loop. */
  readonly failure?: Error | undefined;
  /** Whether the loop ended before the run was complete. @defaultValue whether the host has aborted the run */
  readonly isAbandoned?: boolean | undefined;
}

/** The ids of the calls that the host makes. */
const callIds = ({ content }: Pick<ModelResponse, 'content'>): readonly string[] =>
  content.flatMap((part) => (part.type === 'tool-call' && part.providerExecuted !== true ? [part.toolCallId] : []));

const askedTooOften = `The model was called ${maxAttempts} times for one answer. Limit the retries of the operators.`;
