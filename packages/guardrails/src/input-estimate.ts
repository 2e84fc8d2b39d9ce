import { MessageList, type Message, type ModelRequest, type TurnEventOf, type Usage } from '@h/turn';
import { jsonOf, visitTexts } from './size.js';

/** Tokens that a message takes besides its texts. */
const perMessage = 4;

/**
 * About how many tokens a request sends, for about what its new messages cost.
 *
 * Once the provider has counted a request, only what was added since is estimated. That also accounts for what
 * operators further down add to each request, and for a history that they have made shorter.
 */
export class InputEstimate {
  readonly #tokensOf: (text: string) => number;
  #messages = MessageList.empty;
  #messageTokens = 0;
  #system: ModelRequest['system'] = [];
  #tools: ModelRequest['tools'] = [];
  #fixedTokens = 0;
  #lastEstimate: number | undefined;
  /** What the provider counted beyond the estimate; less than nothing where the estimate was too high. */
  #offset = 0;
  #isKnown = false;

  constructor(tokensOf: (text: string) => number) {
    this.#tokensOf = tokensOf;
  }

  /** Estimates the request, and remembers it as the one that is asked. */
  of(request: TurnEventOf<'model.request'>): number {
    const { messages, system, tools, tail } = request;
    const isLonger = messages.startsWith(this.#messages);
    if (!isLonger) [this.#messages, this.#messageTokens] = [MessageList.empty, 0];
    for (const message of messages.slice(this.#messages.length)) this.#messageTokens += this.#message(message);
    this.#messages = messages;
    if (system !== this.#system || tools !== this.#tools) this.#measureFixed(system, tools);
    let estimate = this.#messageTokens + this.#fixedTokens;
    for (const message of tail) estimate += this.#message(message);
    this.#lastEstimate = estimate;
    // A history that was replaced was shortened; by how much more than estimated it was too long is no longer known.
    const offset = isLonger ? this.#offset : Math.max(0, this.#offset);
    return Math.ceil(this.#isKnown ? Math.max(estimate + offset, 1) : estimate);
  }

  /**
   * What the provider counted for the request that was asked last, and for the answer that will be sent with the next one.
   * Reasoning is left out: most providers do not take it back.
   */
  learn({ input, output, reasoning }: Usage, answer: Message): void {
    if (this.#lastEstimate === undefined || input === 0) return;
    this.#offset = input - this.#lastEstimate + Math.max(0, output - reasoning - this.#message(answer));
    this.#isKnown = true;
  }

  #measureFixed(system: ModelRequest['system'], tools: ModelRequest['tools']): void {
    this.#system = system;
    this.#tools = tools;
    this.#fixedTokens = 0;
    for (const { text } of system) this.#fixedTokens += this.#tokensOf(text);
    for (const { name, description, inputSchema } of tools) {
      this.#fixedTokens += this.#tokensOf(name + description + jsonOf(inputSchema));
    }
  }

  #message(message: Message): number {
    let tokens = perMessage;
    visitTexts(message, (text) => {
      tokens += this.#tokensOf(text);
    });
    return tokens;
  }
}
