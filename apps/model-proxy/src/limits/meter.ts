import { cleanUsage, isEmptyUsage, loadPrices, type CostOf, type TokenUsage } from '@h/prices';
import type { ProxyConfig } from '../config.js';
import type { Answer } from '../formats/answer.js';
import type { Amounts } from './ledger.js';
import { Refusal, type Provider } from '../calls/refusal.js';
import { estimateTokens, maxOutputOf, type WireRequest } from '../wire/wire-request.js';

/** Output tokens that an estimate expects, because most answers are far shorter than their limit. */
const expectedOutput = 1_000;
/** Minimum length of base64 that counts as an image or a file, whose tokens do not depend on its length. */
const minEncoded = 2_000;
/** Tokens of an image or a file in an estimate. */
const tokensPerFile = 1_500;

/** What a model call used. */
export interface Metered {
  readonly usage: TokenUsage;
  /** `undefined` if the price is not known. */
  readonly cost: number | undefined;
  readonly isEstimated: boolean;
}

/** Measures model calls in tokens and dollars. */
export class Meter {
  readonly costOf: CostOf;
  readonly #refusesUnknown: boolean;

  private constructor(costOf: CostOf, refusesUnknown: boolean) {
    this.costOf = costOf;
    this.#refusesUnknown = refusesUnknown;
  }

  static async load({ prices, budgets }: ProxyConfig): Promise<Meter> {
    return new Meter(await loadPrices({ overrides: prices }), budgets.unknownCost === 'refuse');
  }

  /**
   * Estimates a call before it is sent.
   *
   * @throws Refusal `forbidden` if a cost limit applies and the price of the model is not known
   */
  estimate(request: WireRequest, inputTokens: number, provider: Provider, hasCostLimit: boolean): Amounts {
    const usage = usageOf(inputTokens, Math.min(maxOutputOf(request) ?? expectedOutput, expectedOutput));
    const cost = this.costOf(usage, nameOf(provider, request.model));
    if (cost === undefined && hasCostLimit && this.#refusesUnknown) {
      throw new Refusal(
        'forbidden',
        `The price of the model ${JSON.stringify(request.model ?? '')} is not known, but a cost limit applies. Add it to "prices", or set "budgets.unknownCost: ignore".`,
      );
    }
    return { tokens: usage.input + usage.output, cost: cost ?? 0 };
  }

  /**
   * Measures an answer. One without usage, such as an interrupted one, is estimated. No model answers an empty request,
   * so counts that are all 0 or invalid are treated as missing.
   *
   * @param inputTokens - the estimate for the request
   * @param model - the model that was asked
   */
  measure(inputTokens: number, provider: Provider, answer: Answer, model: string | undefined): Metered {
    const reported = answer.usage && isEmptyUsage(answer.usage) ? undefined : answer.usage;
    const usage = reported ?? usageOf(inputTokens, estimateTokens(answer.outputChars));
    const names = [model, answer.model].filter((name) => name !== undefined);
    let cost: number | undefined;
    for (const name of names) cost ??= this.costOf(usage, nameOf(provider, name));
    return { usage, cost, isEstimated: reported === undefined };
  }
}

const usageOf = (input: number, output: number): TokenUsage => cleanUsage({ input, output });

/** Estimates the tokens of the text of a request. */
export const inputTokensOf = (text: string): number => {
  let files = 0;
  let encoded = 0;
  let end = 0;
  // Every run of this length contains one of the positions that are read, so most characters are not.
  for (let index = minEncoded - 1; index < text.length; index = Math.max(index, end) + minEncoded) {
    let begin = index + 1;
    while (begin > end && isBase64(text.charCodeAt(begin - 1))) begin -= 1;
    if (begin > index) continue;
    end = index + 1;
    while (end < text.length && isBase64(text.charCodeAt(end))) end += 1;
    if (end - begin < minEncoded) continue;
    files += 1;
    encoded += end - begin;
  }
  return estimateTokens(text.length - encoded) + files * tokensPerFile;
};

const isBase64 = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2b ||
  code === 0x2f;

const nameOf = (provider: Provider, model: string | undefined): string | undefined =>
  model === undefined || model.includes('/') ? model : `${provider}/${model}`;

/** Returns what a metered call counts for a budget. */
export const amountsOf = ({ usage, cost = 0 }: Metered): Amounts => ({ tokens: usage.input + usage.output, cost });
