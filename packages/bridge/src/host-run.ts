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
  type ErrorInfo,
  type Message,
  type ModelDelta,
  type ModelResponse,
  type PipelineOperator,
  type ToolDefinition,
  type TurnEvent,
  type TurnEventOf,
  type UserMessage,
} from '@h/turn';
import { Observable } from 'rxjs';
import { denyCanary } from './canary.js';
import type { HostModelCall, HostModelResult } from './host.js';
import { HostCalls, type CallsTurn } from './host-calls.js';
import { definitionsOf } from './host-tools.js';
import { answerShown, deliveredOutcomes, OpenCall, partsOf } from './open-call.js';
import { performCall } from './perform-call.js';
import type { LoopEnd, RunOptions } from './run-options.js';
import { whenAborted } from './when-aborted.js';

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
export class HostRun<HostMessage> implements CallsTurn {
  /** The id of the run in the host. */
  token: unknown;
  /** The tool calls of the run. */
  readonly calls: HostCalls<HostMessage>;
  readonly #options: RunOptions<HostMessage>;
  readonly #agent: Agent;
  readonly #abort = new AbortController();
  #definitions: readonly ToolDefinition[] = [];
  #open: OpenCall<HostMessage> | undefined;
  /** The signal of the latest model call, which most hosts use for the whole run. */
  #signal: AbortSignal | undefined;
  /** A request that waits for the host's next model call. */
  #held: { readonly event: TurnEventOf<'model.request'>; readonly resume: (decision: Decision) => void } | undefined;
  /** The latest answer before the operators. */
  #entered: TurnEventOf<'model.response'> | undefined;
  readonly #idle: (() => void)[] = [];
  /** Why the host ended its loop. */
  #finished: string | undefined;
  #lastText: Message | undefined;
  /** Why the last model call has failed, unless an operator retried it or an answer followed. */
  #failure: ErrorInfo | undefined;
  #end: TurnEventOf<'turn.end'> | undefined;

  constructor(options: RunOptions<HostMessage>, token: unknown) {
    this.token = token;
    this.#options = options;
    this.calls = new HostCalls(options, this);
    this.#agent = harness({
      model: (request, { signal }) => {
        if (!this.#open) throw new TypeError('A model request left the operators while the host made no model call.');
        return performCall(this.#open, request, { ...options, signal });
      },
      tools: { definitions: () => this.#definitions, run: (calls, { signal }) => this.calls.run(calls, signal) },
      sessions: options.store,
      maxModelCalls: Infinity,
    }).pipe(this.#head(), denyCanary, ...options.operators, this.#tail());
  }

  /** The end event of the turn, if it has ended. */
  get end(): TurnEventOf<'turn.end'> | undefined {
    return this.#end;
  }

  /** Whether the host has aborted the run. */
  get isAborted(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Whether the turn ended because the model failed. The host may repeat the call, unlike that of a stopped turn. */
  get isRepeatable(): boolean {
    const { outcome, error } = this.#end ?? {};
    return outcome === 'error' && this.#failure !== undefined && error?.message === this.#failure.message;
  }

  get isCallOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Starts the turn. */
  begin(input: readonly UserMessage[]): void {
    const { session } = this.#options;
    this.#agent.turn({ session, input, signal: this.#abort.signal }).subscribe((event) => this.#take(event));
  }

  /** Makes a model call of the host through the operators. */
  model(call: HostModelCall<HostMessage>): Promise<HostModelResult<unknown>> {
    const open = new OpenCall(call);
    this.#open = open;
    this.#signal = call.signal;
    this.#definitions = definitionsOf(call, this.#options.effects);
    const stopListening = whenAborted(call.signal, () => {
      open.reject(call.signal?.reason);
      this.close('The host cancelled its model call.');
    });
    try {
      this.calls.answerMissing(call.messages);
      this.#resume((event) => this.#prepare(event, open));
    } catch (error) {
      open.reject(error);
      this.fail(error);
    }
    return open.promise.finally(() => {
      stopListening();
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

  /** Resolves as soon as the turn has ended or cannot continue without the host. */
  async idle(): Promise<void> {
    while (!this.#end && !this.#held && !this.calls.isWaitingForHost) {
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
    }
  }

  /**
   * Ends the turn because the loop of the host has ended: as completed, if nothing of it is running and the host has not
   * aborted it between two calls.
   */
  finish(reason: string, { messages = [], failure, isAbandoned = this.isAborted }: LoopEnd<HostMessage> = {}): void {
    if (this.#end) return;
    if (!this.#open) this.calls.answerMissing(messages);
    this.#finished = reason;
    if (failure) this.fail(failure);
    else if (this.#held && !isAbandoned) this.#resume(() => stop('completed', reason));
    else this.close(reason);
  }

  /** Ends the turn, unless it has ended. */
  close(reason: string): void {
    this.#abort.abort(new TurnError('run-ended', reason));
  }

  /** Answers an approval request of an operator. */
  answer(id: string, decision: ApprovalDecision): void {
    this.#agent.answer(id, decision);
  }

  /** Resolves the promises of {@link idle} if the turn waits for the host. */
  notify(): void {
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
            this.notify();
          });
        },
        'model.response': (event) => {
          this.#entered = event;
        },
        'tool.call': ({ call }) => this.calls.get(call.id)?.enterCall(call),
        'tool.result': (event) => this.calls.get(event.call.id)?.enter(event),
      },
    }));
  }

  /** The last operator of the pipe, which restores results that the operators of a separate turn decided about. */
  #tail(): PipelineOperator {
    return intercept('host-results', () => ({
      decide: {
        'tool.result': (event) => {
          const decided = this.calls.get(event.call.id)?.decided;
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
      this.#failure = open.failure;
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
    const update = this.#options.history.update(messages, event.messages, this.calls.delivered);
    this.calls.deliver();
    if (update.type === 'same') return request;
    const changed = repairHistory(update.messages).messages;
    return [
      { type: `history.${update.type}`, messages: changed, origin: 'host' },
      { ...request, messages: update.type === 'append' ? event.messages.concat(changed) : MessageList.of(changed) },
    ];
  }

  #take(event: TurnEvent): void {
    switch (event.type) {
      case 'model.delta':
        return this.#passDelta(event.delta);
      case 'model.response':
        return this.#deliver(event);
      case 'model.error':
        if (event.retrying !== true) this.#failure = event.error;
        else if (this.#open) this.#open.failure = event.error;
        return undefined;
      case 'tool.result':
        return this.calls.get(event.call.id)?.settle(event);
      case 'approval.request':
        return this.calls.ask(event);
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
    this.#failure = undefined;
    const calls = callIds(event);
    open?.answers.push(event);
    const isChanged =
      event.content !== this.#entered?.content ||
      event.finishReason !== this.#entered.finishReason ||
      callIds(open?.performed ?? event).some((id, index) => id !== calls[index]) ||
      (open?.answers.length ?? 0) > 1;
    if (open) open.isChanged = isChanged;
    this.calls.deliver(event.content.length > 0 ? { isChanged } : undefined, calls);
    if (calls.length > 0 && open?.answer()) this.#open = undefined;
  }

  #finish(end: TurnEventOf<'turn.end'>): void {
    this.#end = end;
    this.notify();
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
      this.calls.deliver();
      open.fail(end);
    }
  }
}

/** The ids of the calls that the host makes. */
const callIds = ({ content }: Pick<ModelResponse, 'content'>): readonly string[] =>
  content.flatMap((part) => (part.type === 'tool-call' && part.providerExecuted !== true ? [part.toolCallId] : []));

const askedTooOften = `The model was called ${maxAttempts} times for one answer. Limit the retries of the operators.`;
