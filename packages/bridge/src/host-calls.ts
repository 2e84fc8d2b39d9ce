import {
  toErrorInfo,
  type ApprovalDecision,
  type DecideHandlers,
  type Message,
  type ToolCall,
  type ToolDriverOutput,
  type ToolOutcome,
  type ToolResultOutput,
  type TurnEventOf,
} from '@h/turn';
import { Observable } from 'rxjs';
import { CallSlot, decisionOn, type CallOptions } from './call-slot.js';
import type { Approve, HostToolCall, HostToolResult } from './host.js';
import { nothingDelivered, type Delivered } from './host-history.js';
import { notRun, outcomesIn } from './host-tools.js';
import type { RunOptions } from './run-options.js';

/** What the calls of a run need of its turn. */
interface CallsTurn {
  answer(id: string, decision: ApprovalDecision): void;
  close(reason: string): void;
  /** The host has made another call. */
  onCall(): void;
}

/** An answer that the host received, with the ids of its calls. */
interface DeliveredAnswer {
  readonly hasContent: boolean;
  readonly isChanged: boolean;
  readonly calls: readonly string[];
}

/** The tool calls of one run of a host's loop, and the approvals that operators request for them. */
export class HostCalls {
  readonly #options: CallOptions & Pick<RunOptions<never>, 'asksInCall'>;
  readonly #turn: CallsTurn;
  readonly #slots = new Map<string, CallSlot<unknown>>();
  /** The answer that the host received since its last model call. */
  #answer: DeliveredAnswer | undefined;
  /** Whether the host paused for an approval. */
  #isPaused = false;

  constructor(options: CallOptions & Pick<RunOptions<never>, 'asksInCall'>, turn: CallsTurn) {
    this.#options = options;
    this.#turn = turn;
  }

  /** The messages that the host received since its last model call. */
  get delivered(): Delivered {
    if (!this.#answer) return nothingDelivered;
    const { hasContent, isChanged, calls } = this.#answer;
    return {
      answer: hasContent ? { isChanged } : undefined,
      calls: new Map(calls.map((id) => [id, { isChanged: this.#slots.get(id)?.isChanged ?? true }])),
    };
  }

  /** Whether the host has not made all calls that it was given. */
  get isWaitingForHost(): boolean {
    return this.#given.some((id) => this.#slots.get(id)?.isAwaited === false);
  }

  /** The ids of the calls that the host was given. */
  get #given(): readonly string[] {
    return this.#answer?.calls ?? [];
  }

  /** Handles an answer that the host receives. */
  deliver(answer: DeliveredAnswer): void {
    for (const id of answer.calls) this.#slots.set(id, new CallSlot(this.#options));
    this.#answer = answer;
  }

  /** Handles the next model call of the host: it has the answer in its history, or will never receive it. */
  clearDelivered(): void {
    this.#answer = undefined;
  }

  /** Whether the turn knows this call. */
  has(id: string): boolean {
    return this.#slots.has(id);
  }

  /** Whether the host makes the call with the input of the answer. */
  async isSame({ id, input, parse }: HostToolCall<unknown>): Promise<boolean> {
    return parse === undefined || (await this.#slots.get(id)?.isEnteredWith(input, parse)) !== false;
  }

  /** The output of a call as the model reads it, if the call has a result. */
  outputOf(id: string): ToolResultOutput | undefined {
    return this.#slots.get(id)?.output;
  }

  /**
   * Makes a tool call of the host through the operators.
   *
   * Resolves with `undefined` if the host paused for another call of the step: the call is then made in a separate
   * turn, which reports to {@link finish}.
   */
  async make<Value>(call: HostToolCall<Value>): Promise<HostToolResult<Value> | undefined> {
    const slot = this.#slots.get(call.id) as CallSlot<Value>;
    const onAbort = (): void => this.#turn.close('The host cancelled its tool call.');
    if (call.signal?.aborted) onAbort();
    call.signal?.addEventListener('abort', onAbort, { once: true });
    slot.attach(call);
    if (this.#isPaused) slot.release();
    this.#turn.onCall();
    this.#askForOthers(slot);
    try {
      return await slot.resultFor(
        (request) => this.#decisionIn(request, call),
        (id, decision) => {
          this.#isPaused = false;
          this.#turn.answer(id, decision);
        },
      );
    } finally {
      call.signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Handles the end of a call that was made in a separate turn. */
  finish(
    id: string,
    ended: { readonly outcome: ToolOutcome; readonly value: unknown } | { readonly error: unknown },
  ): void {
    const slot = this.#slots.get(id);
    if (slot?.output === undefined) slot?.finishDecided(ended);
  }

  /** Runs the calls that the operators allow, each when the host makes it. */
  run(calls: readonly ToolCall[], signal: AbortSignal): Observable<ToolDriverOutput> {
    return new Observable((subscriber) => {
      for (const call of calls) {
        const answer = (outcome: ToolOutcome): void => subscriber.next({ type: 'result', id: call.id, outcome });
        this.#slots.get(call.id)?.allow({ call, signal, answer });
      }
    });
  }

  /** Handles calls and results that enter the operators. */
  readonly entering: DecideHandlers = {
    'tool.call': ({ call }) => this.#slots.get(call.id)?.enterCall(call),
    'tool.result': (event) => this.#slots.get(event.call.id)?.enter(event),
  };

  /** Restores results that the operators of a separate turn decided about. */
  readonly leaving: DecideHandlers = {
    'tool.result': (event) => {
      const decided = this.#slots.get(event.call.id)?.decided;
      return decided && { ...event, ...decided };
    },
  };

  /** Handles a result that has left the operators. */
  settle(event: TurnEventOf<'tool.result'>): void {
    this.#slots.get(event.call.id)?.settle(event);
  }

  /** Answers the calls that the host did not make with the results in its history. */
  answerMissing(readResults: () => readonly Message[]): void {
    const open = this.#given.filter((id) => this.#slots.get(id)?.isRunning === false);
    if (open.length === 0) return;
    const outcomes = outcomesIn(readResults());
    for (const id of open) {
      const slot = this.#slots.get(id);
      slot?.answer(outcomes.get(id) ?? notRun);
      if (!slot?.approval) continue;
      // The host no longer waits for this approval, so it would never be answered.
      this.#turn.answer(slot.approval.id, { decision: 'deny', reason: 'The host continued without an answer.' });
      slot.answered();
    }
  }

  /** Handles an approval request of an operator. */
  ask(request: TurnEventOf<'approval.request'>): void {
    const slot = request.call && this.#slots.get(request.call.id);
    const isBlocking = !this.#options.asksInCall && [...this.#slots.values()].some((other) => other.isBlocked);
    if (slot && (slot.isAwaited || !isBlocking)) return slot.askFor(request);
    this.#decide(request);
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

  /** Requests an approval within the call of the host, which may pause for it. */
  async #decisionIn(request: TurnEventOf<'approval.request'>, call: HostToolCall<unknown>): Promise<ApprovalDecision> {
    try {
      return await this.#decisionOn(request, call.approve);
    } catch (error) {
      this.#isPaused = true;
      for (const id of this.#given) this.#slots.get(id)?.release();
      throw error;
    }
  }

  /** Requests an approval outside of a call of the host. */
  #decide(request: TurnEventOf<'approval.request'>): void {
    void this.#decisionOn(request)
      .catch((error: unknown) => ({ decision: 'deny', reason: toErrorInfo(error).message }) as const)
      .then((decision) => this.#turn.answer(request.id, decision));
  }

  #decisionOn(
    request: TurnEventOf<'approval.request'>,
    approve: Approve = this.#options.approve,
  ): Promise<ApprovalDecision> {
    return decisionOn(request, approve, this.#options.isControlFlow);
  }
}
