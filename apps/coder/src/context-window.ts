import { contextUsage, type ContextUsage, type TokenCounter } from '@h/compaction';
import type { PromptAnnotation } from '@h/prompt';
import { MessageList, type TurnEvent, type TurnEventOf } from '@h/turn';

/** Contents of the context window in tokens, with the system prompt split into its tiers. */
export interface ContextShares extends Omit<ContextUsage, 'system' | 'tail'> {
  readonly frozen: number;
  readonly session: number;
  readonly volatile: number;
}

/** Tracks the requests to the model and computes what fills its context window. */
export class ContextWindow {
  readonly #counter: TokenCounter;
  readonly #window: number | undefined;
  #request: TurnEventOf<'model.request'> | undefined;

  /** @param window context window of the model in tokens, if known */
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

  /** Contents of the next request; `undefined` before the first request. */
  shares(): ContextShares | undefined {
    if (this.#request === undefined) return undefined;
    const { system, tail, ...usage } = contextUsage(this.#request, { window: this.#window, counter: this.#counter });
    const { chars } = (this.#request.annotations?.['prompt'] ?? noPrompt) as unknown as Pick<PromptAnnotation, 'chars'>;
    const frozen = Math.round((system * chars.frozen) / Math.max(1, chars.frozen + chars.session));
    return { ...usage, frozen, session: system - frozen, volatile: tail };
  }
}

const noPrompt = { chars: { frozen: 1, session: 0 } };
