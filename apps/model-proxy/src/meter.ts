import { cleanUsage, loadPrices, type CostOf, type TokenUsage } from '@h/prices';
import type { ProxyConfig } from './config.js';
import type { Answer } from './formats/answer.js';
import type { Amounts } from './ledger.js';
import { Refusal, type Provider } from './refusal.js';
import { estimateTokens, maxOutputOf, type WireRequest } from './wire-request.js';

/** Output tokens that an estimate expects, because most answers are far shorter than their limit. */
const expectedOutput = 1_000;
/** Images and files, whose tokens do not depend on their length. */
const encodedData = /[A-Za-z0-9+/]{2000,}={0,2}/g;
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
   * Measures an answer. One without usage, such as an interrupted one, is estimated.
   *
   * @param inputTokens - the estimate for the request
   * @param model - the model that was asked
   */
  measure(inputTokens: number, provider: Provider, answer: Answer, model: string | undefined): Metered {
    const usage = answer.usage ?? usageOf(inputTokens, estimateTokens(answer.outputChars));
    const names = [model, answer.model].filter((name) => name !== undefined);
    let cost: number | undefined;
    for (const name of names) cost ??= this.costOf(usage, nameOf(provider, name));
    return { usage, cost, isEstimated: answer.usage === undefined };
  }
}

const usageOf = (input: number, output: number): TokenUsage => cleanUsage({ input, output });

/** Estimates the tokens of the text of a request. */
export const inputTokensOf = (text: string): number => {
  let files = 0;
  const chars = text.length < 20_000 ? text.length : text.replaceAll(encodedData, () => ((files += 1), '')).length;
  return estimateTokens(chars) + files * tokensPerFile;
};

const nameOf = (provider: Provider, model: string | undefined): string | undefined =>
  model === undefined || model.includes('/') ? model : `${provider}/${model}`;

/** Returns what a metered call counts for a budget. */
export const amountsOf = ({ usage, cost = 0 }: Metered): Amounts => ({ tokens: usage.input + usage.output, cost });
