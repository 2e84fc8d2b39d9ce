import type { Message, ModelRequest } from '@h/turn';
import { anyFunction, checkOptions, numberFrom } from '@h/options';
import { encodingOf as encodingByName, estimateTokens, loadTokenizer, type Encoding } from '@h/tokens';
import { createCalibration, type Calibration } from './calibration.js';
import { createGauge, type TokenGauge } from './gauge.js';

/** Options of {@link createTokenCounter}. */
export interface TokenCounterOptions {
  /**
   * Returns the vocabulary of a model; `undefined` if it has none.
   *
   * @defaultValue known for the models of OpenAI only
   */
  readonly encodingOf?: ((model: string | undefined) => Encoding | undefined) | undefined;
  /**
   * Tokens of one image.
   *
   * @defaultValue `1600`, about what Claude counts for the largest image that it does not scale down
   */
  readonly imageTokens?: number | undefined;
}

/** Tokens of one image unless the option says otherwise. */
export const defaultImageTokens = 1600;

/** The size of a request, in tokens. */
export interface RequestTokens {
  readonly system: number;
  readonly tools: number;
  readonly messages: number;
  readonly tail: number;
  readonly total: number;
}

/**
 * Counts tokens. It caches counts and calibrations, so one counter can serve all sessions of a process.
 */
export interface TokenCounter {
  text(text: string, model?: string): number;
  message(message: Message, model?: string): number;
  messages(messages: Iterable<Message>, model?: string): number;
  /** The size of a request, calibrated by what the provider has reported for this model. */
  request(request: ModelRequest): RequestTokens;
  /**
   * Loads the tokenizer of a model and uses it from then on.
   *
   * @returns `false` if its vocabulary is not published, so that its tokens are estimated
   */
  load(model?: string): Promise<boolean>;
  /** The method for this model. `'estimate'` selects the one without a tokenizer. */
  gauge(model?: string, kind?: 'best' | 'estimate'): TokenGauge;
  /** Whether the model has a tokenizer that is not loaded yet. */
  canLoad(model?: string): boolean;
  readonly calibration: Calibration;
}

/**
 * Creates a counter.
 *
 * It estimates on the high side until {@link TokenCounter.load} has loaded the model's tokenizer; models without a
 * published vocabulary are always estimated. Only `load` imports js-tiktoken. Names of special tokens (`<|endoftext|>`)
 * count as plain text.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const counter = createTokenCounter();
 * await counter.load('gpt-5');
 * counter.text('Fix the failing test.', 'gpt-5'); // 5
 * ```
 */
export const createTokenCounter = (options: TokenCounterOptions = {}): TokenCounter => {
  checkOptions('createTokenCounter()', options, { encodingOf: anyFunction, imageTokens: numberFrom(0) });
  const { imageTokens = defaultImageTokens } = options;
  const encodingOf = remembered(options.encodingOf ?? encodingByName);
  const estimate = createGauge('estimate', estimateTokens, imageTokens);
  const loaded = new Map<Encoding, TokenGauge>();
  const calibration = createCalibration();

  const gaugeOf = (model: string | undefined, kind: 'best' | 'estimate' = 'best'): TokenGauge => {
    if (kind === 'estimate' || loaded.size === 0) return estimate;
    const encoding = encodingOf(model);
    return (encoding && loaded.get(encoding)) ?? estimate;
  };
  return {
    calibration,
    gauge: gaugeOf,
    text: (text, model) => gaugeOf(model).text(text),
    message: (message, model) => gaugeOf(model).message(message),
    messages: (messages, model) => countAll(messages, gaugeOf(model)),
    request: (request) => {
      const gauge = gaugeOf(request.model);
      return measured(request, gauge, calibration.factor(request.model, gauge.name));
    },
    canLoad: (model) => {
      const encoding = encodingOf(model);
      return encoding !== undefined && !loaded.has(encoding);
    },
    load: async (model) => {
      const encoding = encodingOf(model);
      if (encoding === undefined) return false;
      if (loaded.has(encoding)) return true;
      const tokenizer = await loadTokenizer(encoding);
      if (!loaded.has(encoding)) loaded.set(encoding, createGauge(encoding, tokenizer, imageTokens));
      return true;
    },
  };
};

/** Caches the vocabulary of each model. */
const remembered = (encodingOf: (model: string | undefined) => Encoding | undefined): typeof encodingOf => {
  const known = new Map<string | undefined, Encoding | undefined>();
  return (model) => {
    if (!known.has(model)) known.set(model, encodingOf(model));
    return known.get(model);
  };
};

/** Tokens of several messages. */
export const countAll = (messages: Iterable<Message>, gauge: Pick<TokenGauge, 'message'>): number => {
  let tokens = 0;
  for (const message of messages) tokens += gauge.message(message);
  return tokens;
};

const measured = (request: ModelRequest, gauge: TokenGauge, factor: number): RequestTokens => {
  const system = Math.ceil(gauge.system(request.system) * factor);
  const tools = Math.ceil(gauge.tools(request.tools) * factor);
  const messages = Math.ceil(countAll(request.messages, gauge) * factor);
  const tail = Math.ceil(countAll(request.tail, gauge) * factor);
  return { system, tools, messages, tail, total: system + tools + messages + tail };
};
