import {
  type FileData,
  type Message,
  MessageList,
  type ModelRequest,
  type ToolResultOutput,
  type TurnEventOf,
  type Usage,
} from '@h/turn';

/** Visits every text of a message once, to count characters or tokens. */
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

/** The number of characters of a message; files count with the length of their data. */
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

/** Tokens of a message besides its texts. */
const perMessage = 4;

/**
 * Estimates the tokens of a request, at the cost of its new messages.
 *
 * Once the provider has counted a request, only what was added since is estimated. That accounts for what operators
 * below add to each request, and for histories that they shorten.
 */
export class InputEstimate {
  readonly #tokensOf: (text: string) => number;
  #messages = MessageList.empty;
  #messageTokens = 0;
  #system: ModelRequest['system'] = [];
  #tools: ModelRequest['tools'] = [];
  #fixedTokens = 0;
  #lastEstimate: number | undefined;
  /** The provider's count minus the estimate. */
  #offset = 0;
  #isKnown = false;

  constructor(tokensOf: (text: string) => number) {
    this.#tokensOf = tokensOf;
  }

  /** Estimates the request and remembers it as the latest. */
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
    // A replaced history is shorter; how far its estimate was off is no longer known.
    const offset = isLonger ? this.#offset : Math.max(0, this.#offset);
    return Math.ceil(this.#isKnown ? Math.max(estimate + offset, 1) : estimate);
  }

  /** The estimate of the latest request, without the correction by the provider's counts. */
  get latest(): number {
    return this.#lastEstimate ?? 0;
  }

  /**
   * Records the request that was sent.
   *
   * @param noted - the estimate at the operator's place, before operators behind it have changed the request
   */
  sent(request: TurnEventOf<'model.request'>, noted: number | undefined): number {
    if (noted === undefined) return this.of(request);
    this.#lastEstimate = noted;
    return Math.ceil(this.#isKnown ? Math.max(noted + this.#offset, 1) : noted);
  }

  /**
   * Learns the provider's count of the latest request and of its answer, which is part of the next one. Reasoning does
   * not count: most providers do not accept it back.
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
