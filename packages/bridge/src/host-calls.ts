import {
  toErrorInfo,
  type ApprovalDecision,
  type ToolCall,
  type ToolDriverOutput,
  type ToolOutcome,
  type TurnEventOf,
} from '@h/turn';
import { Observable } from 'rxjs';
import { CallSlot, decisionOn, type Ran } from './call-slot.js';
import type { HostToolCall, HostToolResult } from './host.js';
import type { Delivered } from './host-history.js';
import { notRun, outcomesIn } from './host-tools.js';
import type { RunOptions } from './run-options.js';
import { whenAborted } from './when-aborted.js';

/** What the calls of a run need of its turn. */
export interface CallsTurn {
  /** Whether the host has aborted the run. */
  readonly isAborted: boolean;
  answer(id: string, decision: ApprovalDecision): void;
  close(reason: string): void;
  /** Resumes what waits for calls of the host. */
  notify(): void;
}

/** The tool calls of one run of a host's loop, and the approvals that operators request for them. */
export class HostCalls<HostMessage> {
  readonly #options: RunOptions<HostMessage>;
  readonly #turn: CallsTurn;
  readonly #slots = new Map<string, CallSlot<unknown>>();
  /** The answer that the host received since its last model call, and the ids of its calls. */
  #answer: Delivered['answer'];
  #given: readonly string[] = [];

  constructor(options: RunOptions<HostMessage>, turn: CallsTurn) {
    this.#options = options;
    this.#turn = turn;
  }

  /** The messages that the host received since its last model call. */
  get delivered(): Delivered {
    const calls = this.#given.map((id) => [id, { isChanged: this.#slots.get(id)?.isChanged ?? true }] as const);
    return { answer: this.#answer, calls: new Map(calls) };
  }

  /** Whether the host has not made all calls that it was given. */
  get isWaitingForHost(): boolean {
    return this.#given.some((id) => this.#slots.get(id)?.isAwaited === false);
  }

  /** Handles an answer that the host receives with the calls of these ids; the previous one is delivered no longer. */
  deliver(answer?: Delivered['answer'], calls: readonly string[] = []): void {
    this.#answer = answer;
    this.#given = calls;
    for (const id of calls) this.#slots.set(id, new CallSlot(this.#options));
  }

  /** The slot of a call that the turn knows. */
  get<Value>(id: string): CallSlot<Value> | undefined {
    return this.#slots.get(id) as CallSlot<Value> | undefined;
  }

  /**
   * Makes a tool call of the host through the operators.
   *
   * Resolves with `undefined` if the host paused for another call of the step: the call is then made in a separate
   * turn, which reports to `slot.finishDecided()`.
   */
  async make<Value>(call: HostToolCall<Value>, slot: CallSlot<Value>): Promise<HostToolResult<Value> | undefined> {
    const stopListening = whenAborted(call.signal, () => {
      const cancel = (): void => this.#turn.close('The host cancelled its tool call.');
      if (call.isSignalOwn !== true) return cancel();
      // Merged signals are aborted one after the other, that of the call possibly before that of the run.
      return queueMicrotask(() => this.#turn.isAborted && cancel());
    });
    slot.attach(call);
    if (this.#isHeldUp(slot)) slot.release();
    this.#turn.notify();
    this.#askForOthers(slot);
    try {
      return await slot.resultFor(
        (request) => this.#decisionIn(request, call, slot),
        (id, decision) => {
          const isHeldUp = this.#isHeldUp(slot);
          this.#turn.answer(id, decision);
          if (isHeldUp) slot.release();
        },
      );
    } finally {
      stopListening();
    }
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

  /** Answers the calls that the host did not make with the results in its history. */
  answerMissing(messages: readonly HostMessage[]): void {
    const open = this.#given.filter((id) => this.#slots.get(id)?.isRunning === false);
    if (open.length === 0) return;
    const outcomes = outcomesIn(this.#options.history.newResults(messages));
    for (const id of open) {
      const slot = this.#slots.get(id);
      slot?.answer(outcomes.get(id) ?? notRun);
      // The host no longer waits for these approvals, so they would never be answered.
      for (const request of slot?.approvals ?? []) {
        slot?.answered(request);
        this.#turn.answer(request.id, { decision: 'deny', reason: 'The host continued without an answer.' });
      }
    }
  }

  /** Handles the end of a call in a separate turn, whose operators have decided about it. */
  finishDecided<Value>(slot: CallSlot<Value>, ended: Ran<Value> | { readonly error: unknown }): void {
    slot.finishDecided(ended);
    for (const request of slot.approvals) this.#answerDecided(request, slot);
  }

  /** Answers an approval request for a call that has its result from a separate turn. */
  #answerDecided(request: TurnEventOf<'approval.request'>, slot: CallSlot<unknown>): void {
    slot.answered(request);
    this.#turn.answer(request.id, { decision: slot.decided?.status === 'denied' ? 'deny' : 'once' });
  }

  /** Handles an approval request of an operator. */
  ask(request: TurnEventOf<'approval.request'>): void {
    const slot = request.call && this.#slots.get(request.call.id);
    if (slot?.decided) return this.#answerDecided(request, slot);
    const isBlocking = [...this.#slots.values()].some((other) => other.isBlocked && !other.asksInCall);
    if (!slot || (isBlocking && !slot.isAwaited)) return this.#decide(request);
    slot.askFor(request);
    for (const other of this.#slots.values()) if (other.isBlocked && this.#isHeldUp(other)) other.release();
  }

  /** Requests the approvals of other calls: a host that makes one call after the other waits for this one first. */
  #askForOthers(slot: CallSlot<unknown>): void {
    if (slot.asksInCall) return;
    for (const other of this.#slots.values()) {
      if (other === slot || other.isAwaited) continue;
      for (const request of other.approvals) {
        other.answered(request);
        this.#decide(request);
      }
    }
  }

  /** Handles a pause of the host for a call about which the operators of the turn have not decided. */
  pause(paused: CallSlot<unknown>): void {
    paused.pausedAttempt = paused.attempts;
    for (const id of this.#given) if (this.#slots.get(id) !== paused) this.#slots.get(id)?.release();
  }

  /** Whether a call waits for another one of the step, which the host has paused or has yet to make. */
  #isHeldUp(slot: CallSlot<unknown>): boolean {
    const others = this.#given.flatMap((id) => this.#slots.get(id) ?? []).filter((other) => other !== slot);
    return others.some(
      ({ approvals, pausedAttempt }) => pausedAttempt >= slot.attempts || (slot.isMadeAlone && approvals.size > 0),
    );
  }

  /** Requests an approval within the call of the host, which may pause for it. */
  async #decisionIn(
    request: TurnEventOf<'approval.request'>,
    { approve }: HostToolCall<unknown>,
    slot: CallSlot<unknown>,
  ): Promise<ApprovalDecision> {
    try {
      return await decisionOn(request, this.#options, approve);
    } catch (error) {
      this.pause(slot);
      throw error;
    }
  }

  /** Requests an approval outside of a call of the host. */
  #decide(request: TurnEventOf<'approval.request'>): void {
    void decisionOn(request, this.#options)
      .catch((error: unknown) => ({ decision: 'deny', reason: toErrorInfo(error).message }) as const)
      .then((decision) => this.#turn.answer(request.id, decision));
  }
}
