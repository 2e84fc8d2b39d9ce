import type { JSONValue, PipelineOperator, ToolOutcome, UserMessage } from '@h/turn';
import { HookTurn, type StepDecision } from './hook-turn.js';

/** How long the end of a turn may take before the next turn of the session begins without it. */
const closeGraceMs = 5000;

export interface HookSessionOptions {
  readonly name: string;
  readonly operators: readonly PipelineOperator[];
  readonly trigger: string;
  readonly onLostChange: (members: readonly string[]) => void;
}

/** The turns of one session of Claude Code, or of one of its sub-agents, one at a time. */
export class HookSession {
  readonly #options: HookSessionOptions;
  readonly #state = new Map<string, JSONValue>();
  #turn: HookTurn | undefined;
  #prompt: string | undefined;
  #began: Promise<StepDecision> | undefined;

  constructor(options: HookSessionOptions) {
    this.#options = options;
  }

  /** The latest turn. */
  get turn(): HookTurn | undefined {
    return this.#turn;
  }

  /** Starts a turn. The previous one ends as cancelled, unless it has ended. */
  begin(input: readonly UserMessage[], prompt: string | undefined): Promise<StepDecision> {
    const previous = this.#turn;
    const turn = this.#newTurn(input);
    this.#turn = turn;
    this.#prompt = prompt;
    this.#began = closed(previous).then(() => turn.begin());
    return this.#began;
  }

  /**
   * Returns the turn to which a call belongs. A turn begins without a prompt if the model works on its own, for
   * instance after a background task.
   */
  async turnFor(prompt: string | undefined): Promise<HookTurn> {
    const isOther = prompt !== undefined && prompt !== this.#prompt;
    if (!this.#turn || isOther || this.#turn.ending?.outcome === 'completed') await this.begin([], prompt);
    await this.#began;
    return this.#turn as HookTurn;
  }

  /** Passes a result that arrived after the end of its turn through the operators, in a separate turn. */
  async lateResult(id: string, name: string, input: unknown, outcome: ToolOutcome): Promise<ToolOutcome | undefined> {
    const turn = this.#newTurn([]);
    await turn.begin();
    const result = await turn.result(id, name, input, outcome);
    turn.cancel('The turn of this result has ended.');
    await closed(turn);
    return result;
  }

  /** Ends the current turn. */
  close(reason: string): void {
    this.#turn?.cancel(reason);
    void closed(this.#turn);
  }

  #newTurn(input: readonly UserMessage[]): HookTurn {
    const { name, operators, trigger, onLostChange } = this.#options;
    return new HookTurn({ session: name, operators, input, trigger, state: this.#state, onLostChange });
  }
}

/** Ends a turn and resolves when it has ended, at the latest after the grace period. */
const closed = async (turn: HookTurn | undefined): Promise<void> => {
  if (!turn) return;
  turn.cancel('A new prompt began.');
  const timer = setTimeout(() => turn.close(), closeGraceMs).unref();
  await turn.ended;
  clearTimeout(timer);
};
