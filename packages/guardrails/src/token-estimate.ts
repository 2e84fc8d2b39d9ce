import {
  type FileData,
  type Message,
  MessageList,
  type ModelRequest,
  type ToolResultOutput,
  type TurnEventOf,
  type Usage,
} from '@h/turn';

/** How much of a text is looked at to tell how dense its script is. */
const sample = 32;

/**
 * About how many tokens a text has: a quarter of its characters, and more where its script is one of those that take
 * about a token for every character. It looks at the beginning only, so that it costs the same for any text.
 *
 * It errs on the side of too few, so that nobody is stopped by an estimate who was within the limit. What the provider
 * counts takes its place as soon as it is known.
 */
export const approximateTokens = (text: string): number => {
  const looked = Math.min(text.length, sample);
  if (looked === 0) return 0;
  let wide = 0;
  for (let index = 0; index < looked; index += 1) if (text.charCodeAt(index) >= 0x2e80) wide += 1;
  return text.length * (0.25 + (0.45 * wide) / looked);
};

/** A message as texts, for counting characters or tokens. Every text is visited once. */
export const visitTexts = (message: Message, visit: (text: string) => void): void => {
  if (typeof message.content === 'string') {
    visit(message.content);
    return;
  }
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        visit(part.text);
        break;
      case 'tool-call':
        visit(part.toolName);
        visit(jsonOf(part.input));
        break;
      case 'tool-result':
        visitOutput(part.output, visit);
        break;
      default:
    }
  }
};

const visitOutput = (output: ToolResultOutput, visit: (text: string) => void): void => {
  if (output.type === 'content') {
    for (const part of output.value) if (part.type === 'text') visit(part.text);
  } else if (output.type !== 'execution-denied') {
    visit(typeof output.value === 'string' ? output.value : jsonOf(output.value));
  }
};

/** How many characters a message has; files count as long as their data is. */
export const charsOf = (message: Message): number => {
  let chars = 0;
  visitTexts(message, (text) => {
    chars += text.length;
  });
  if (typeof message.content === 'string') return chars;
  for (const part of message.content) {
    if (part.type === 'file' || part.type === 'reasoning-file') chars += dataLength(part.data);
    else if (part.type === 'image') chars += dataLength(part.image);
  }
  return chars;
};

const dataLength = (data: FileData): number => {
  if (typeof data === 'string') return data.length;
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return data.byteLength;
  if (data instanceof URL) return data.href.length;
  if (data.type === 'text') return (data as { readonly text: string }).text.length;
  return data.type === 'data' ? dataLength((data as { readonly data: string | Uint8Array | ArrayBuffer }).data) : 0;
};

export const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
};

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
