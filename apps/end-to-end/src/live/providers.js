/** The providers of live tests and of `npm run bench:live`: those whose keys are set. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { languageModel } from '@h/ai-sdk';

/** @typedef {import('@h/turn').ModelDriver} ModelDriver */

/**
 * A provider, with a driver of its model and one of a model that it does not have.
 *
 * @typedef {{ readonly name: string, readonly model: string, readonly driver: ModelDriver, readonly unknown: ModelDriver }} Provider
 */

const connectors = [
  { name: 'anthropic', key: 'ANTHROPIC_API_KEY', fallback: 'claude-haiku-4-5', connect: createAnthropic },
  { name: 'openai', key: 'OPENAI_API_KEY', fallback: 'gpt-5-mini', connect: createOpenAI },
  {
    name: 'google',
    key: 'GOOGLE_GENERATIVE_AI_API_KEY',
    fallback: 'gemini-2.5-flash',
    connect: createGoogleGenerativeAI,
  },
];

/**
 * Returns the providers whose keys are set, and the variables of those whose keys are not. `ANTHROPIC_BASE_URL` replaces the
 * address of a provider, and `H_LIVE_ANTHROPIC_MODEL` its model.
 *
 * @param {Readonly<Partial<Record<string, string>>>} environment
 * @returns {{ readonly providers: readonly Provider[], readonly missing: readonly string[] }}
 */
export const liveProviders = (environment) => {
  /** @type {Provider[]} */
  const providers = [];
  /** @type {string[]} */
  const missing = [];
  for (const { name, key, fallback, connect } of connectors) {
    const apiKey = environment[key] ?? '';
    if (apiKey === '') {
      missing.push(key);
      continue;
    }
    const baseURL = environment[`${name.toUpperCase()}_BASE_URL`];
    const model = environment[`H_LIVE_${name.toUpperCase()}_MODEL`] ?? fallback;
    const service = connect({ apiKey, ...(baseURL !== undefined && baseURL !== '' && { baseURL }) });
    providers.push({
      name,
      model,
      driver: languageModel(service(model)),
      unknown: languageModel(service('no-such-model')),
    });
  }
  return { providers, missing };
};
