import type { Approve, HostSession, HostToolResult, HostToolReturn } from '@h/bridge';
import type { ApprovalDecision, ToolCall, ToolCallPart, ToolOutcome, TurnEventOf } from '@h/turn';
import type { MessageGroup } from './messages.js';

type Approval = TurnEventOf<'approval.request'>;

/** A call of the agent that the operators judge, and that the client runs between two runs. */
export class PendingCall {
  readonly id: string;
  readonly name: string;
  /** The input that the agent wrote. */
  readonly input: unknown;
  /** The call as the operators allowed it; the client must run it. */
  allowed: ToolCall | undefined;
  /** The approval for which the run is interrupted. */
  approval: Approval | undefined;
  /** The result that left the operators. */
  result: HostToolResult<ToolOutcome> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #answer: ((outcome: HostToolReturn<ToolOutcome>) => void) | undefined;
  #decide: ((decision: ApprovalDecision) => void) | undefined;
  #waiting: (() => void)[] = [];

  /** @param approve - asks a person; by default, the run is interrupted */
  constructor(
    session: HostSession<MessageGroup>,
    { toolCallId: id, toolName: name, input }: Pick<ToolCallPart, 'toolCallId' | 'toolName' | 'input'>,
    approve: Approve | undefined,
  ) {
    this.id = id;
    this.name = name;
    this.input = input;
    session
      .tool<ToolOutcome>({
        id,
        name,
        input,
        approve: approve ?? ((request) => this.#ask(request)),
        run: (call) =>
          new Promise((resolve) => {
            this.allowed = call;
            this.#answer = resolve;
            this.#notify();
          }),
      })
      .then(
        (result) => {
          this.result = result;
        },
        (error: unknown) => {
          this.#failure = { error };
        },
      )
      .finally(() => this.#notify());
  }

  /** Resolves when the operators have decided: the call is allowed, asks a person, or has a result. */
  async judged(): Promise<void> {
    while (!this.allowed && !this.approval && !this.result) await this.#change();
  }

  /** Resolves when the call asks a person. */
  async asked(): Promise<void> {
    while (!this.approval) await this.#change();
  }

  /** Resolves with the result that left the operators. */
  async ended(): Promise<HostToolResult<ToolOutcome>> {
    while (!this.result) await this.#change();
    return this.result;
  }

  /** Passes the result of the client to the operators. */
  answer(outcome: ToolOutcome): void {
    this.#answer?.({ outcome, value: outcome });
    this.#answer = undefined;
  }

  /** Passes the decision of a person to the operators. */
  decide(decision: ApprovalDecision): void {
    this.approval = undefined;
    this.#decide?.(decision);
    this.#decide = undefined;
  }

  #ask(request: Approval): Promise<ApprovalDecision> {
    return new Promise((resolve) => {
      this.approval = request;
      this.#decide = resolve;
      this.#notify();
    });
  }

  async #change(): Promise<void> {
    this.#check();
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
    this.#check();
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error;
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
