import { contextUsage, type ContextUsage, type TokenCounter } from '@h/compaction';
import type { PromptAnnotation } from '@h/prompt';
import { MessageList, type TurnEvent, type TurnEventOf } from '@h/turn';

/** What fills the window, in tokens, with the system prompt told apart by tiers. */
export interface ContextShares extends Omit<ContextUsage, 'system' | 'tail'> {
  readonly frozen: number;
  readonly session: number;
  readonly volatile: number;
}

/** Follows what is sent to the model, to tell what fills its window. */
export class ContextWindow {
  readonly #counter: TokenCounter;
  readonly #window: number | undefined;
  #request: TurnEventOf<'model.request'> | undefined;

  /** @param window how many tokens the model takes in, where that is known */
  constructor(counter: TokenCounter, window: number | undefined) {
    this.#counter = counter;
    this.#window = window;
  }

  event(event: TurnEvent): void {
    if (event.type === 'model.request') this.#request = event;
    else if (this.#request === undefined) return;
    else if (event.type === 'history.append') {
      this.#request = { ...this.#request, messages: this.#request.messages.concat(event.messages) };
    } else if (event.type === 'history.replace') {
      this.#request = { ...this.#request, messages: MessageList.of(event.messages) };
    }
  }

  /** What the next request would begin with; `undefined` before the first one. */
  shares(): ContextShares | undefined {
    if (this.#request === undefined) return undefined;
    const { system, tail, ...usage } = contextUsage(this.#request, { window: this.#window, counter: this.#counter });
    const { chars } = (this.#request.annotations?.['prompt'] ?? noPrompt) as unknown as Pick<PromptAnnotation, 'chars'>;
    const frozen = Math.round((system * chars.frozen) / Math.max(1, chars.frozen + chars.session));
    return { ...usage, frozen, session: system - frozen, volatile: tail };
  }
}

const noPrompt = { chars: { frozen: 1, session: 0 } };
