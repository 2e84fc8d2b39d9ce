import type { JSONValue, ToolOutcome, UserMessage } from '@h/turn';
import type { CallDecision, StepDecision } from './hook-decisions.js';
import { HookTurn, type HookTurnOptions } from './hook-turn.js';

/** How long the end of a turn may take before the next turn of the session begins without it. */
const closeGraceMs = 5000;

export interface HookSessionOptions extends Pick<HookTurnOptions, 'operators' | 'trigger' | 'onLostChange' | 'onStop'> {
  readonly name: string;
}

/** The turns of one session of Claude Code, or of one of its sub-agents, one at a time. */
export class HookSession {
  readonly #options: HookSessionOptions;
  readonly #state = new Map<string, JSONValue>();
  #turn: HookTurn | undefined;
  #prompt: string | undefined;
  #began: Promise<StepDecision> | undefined;
  /** Calls whose input was changed after the decision of their turn, each in a separate turn until it has its result. */
  readonly #changed = new Map<string, HookTurn>();

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
    for (const changed of this.#changed.values()) void closed(changed, newPrompt);
    this.#changed.clear();
    this.#began = closed(previous, newPrompt).then(() => turn.begin());
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
    await closed(turn, 'The turn of this result has ended.');
    return result;
  }

  /** Decides about a call whose input was changed after the decision of its turn, in a separate turn. */
  async judgeChanged(id: string, name: string, input: unknown): Promise<CallDecision> {
    const turn = this.#newTurn([]);
    this.#changed.set(id, turn);
    await turn.begin();
    return turn.call(id, name, input);
  }

  /** The separate turn of a call with a changed input. */
  changedTurn(id: string): HookTurn | undefined {
    return this.#changed.get(id);
  }

  /** Passes the result of a call with a changed input through the operators of its separate turn, which ends. */
  async changedResult(
    id: string,
    name: string,
    input: unknown,
    outcome: ToolOutcome,
  ): Promise<ToolOutcome | undefined> {
    const result = await this.#changed.get(id)?.result(id, name, input, outcome);
    await this.endChanged(id, 'The call has its result.');
    return result;
  }

  async endChanged(id: string, reason: string): Promise<void> {
    const turn = this.#changed.get(id);
    this.#changed.delete(id);
    await closed(turn, reason);
  }

  /** Ends the current turn. */
  close(reason: string): void {
    for (const turn of [this.#turn, ...this.#changed.values()]) void closed(turn, reason);
    this.#changed.clear();
  }

  #newTurn(input: readonly UserMessage[]): HookTurn {
    const { name, ...options } = this.#options;
    return new HookTurn({ ...options, session: name, input, state: this.#state });
  }
}

/** Ends a turn and resolves when it has ended, at the latest after the grace period. */
const closed = async (turn: HookTurn | undefined, reason: string): Promise<void> => {
  if (!turn) return;
  turn.cancel(reason);
  const timer = setTimeout(() => turn.close(), closeGraceMs).unref();
  await turn.ended;
  clearTimeout(timer);
};

const newPrompt = 'A new prompt began.';
