import { describe, expect, it } from 'vitest';
import { chooseModel, hasKey } from './choose-model.js';

const nameOf = (wish: Parameters<typeof chooseModel>[0]): string => chooseModel(wish).name;

describe('chooseModel', () => {
  it.each([
    ['anthropic/claude-sonnet-4-5', { ANTHROPIC_API_KEY: 'k' }],
    ['openai/gpt-5.1', { OPENAI_API_KEY: 'k' }],
    ['google/gemini-2.5-pro', { GOOGLE_GENERATIVE_AI_API_KEY: 'k' }],
    ['google/gemini-2.5-pro', { GEMINI_API_KEY: 'k' }],
    ['ollama/llama3.2', {}],
    ['ollama/hf.co/someone/model:Q4', {}],
  ])('finds %s', (model, environment) => {
    expect(nameOf({ model, environment })).toBe(model);
  });

  it('takes any name of a provider with the address of its server', () => {
    expect(nameOf({ model: 'local/qwen', baseUrl: 'http://127.0.0.1:8080/v1', environment: {} })).toBe('local/qwen');
  });

  it('takes the first provider that has a key where no model is named', () => {
    expect(nameOf({ environment: { OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' } })).toBe('openai/gpt-5.1');
    expect(nameOf({ environment: { ANTHROPIC_API_KEY: '', GEMINI_API_KEY: 'k' } })).toBe('google/gemini-2.5-pro');
  });

  it.each<[wish: Parameters<typeof chooseModel>[0], message: unknown]>([
    [
      { environment: {} },
      'No model to ask: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, or name a model with --model provider/model.',
    ],
    [
      { model: 'anthropic/claude-sonnet-4-5', environment: {} },
      'anthropic/claude-sonnet-4-5 needs a key: set ANTHROPIC_API_KEY.',
    ],
    [
      { model: 'anthropic/claude-sonnet-4-5', environment: { ANTHROPIC_API_KEY: '' } },
      'anthropic/claude-sonnet-4-5 needs a key: set ANTHROPIC_API_KEY.',
    ],
    [
      { model: 'google/gemini-2.5-pro', environment: {} },
      'google/gemini-2.5-pro needs a key: set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY.',
    ],
    [
      { model: 'antropic/claude', environment: {} },
      'The provider "antropic" is unknown: use anthropic, openai, google, ollama, or give the address of an OpenAI-compatible server with --base-url.',
    ],
    [{ model: 'constructor/x', environment: {} }, expect.stringContaining('The provider "constructor" is unknown')],
    [
      { model: 'claude', environment: {} },
      '--model takes provider/model, such as anthropic/claude-sonnet-4-5; it was given "claude".',
    ],
    [{ model: 'ollama/', environment: {} }, expect.stringContaining('--model takes provider/model')],
    [{ model: '/x', environment: {} }, expect.stringContaining('--model takes provider/model')],
    [
      { model: 'ollama/x', baseUrl: 'localhost', environment: {} },
      '--base-url takes an address such as http://127.0.0.1:11434/v1; it was given "localhost".',
    ],
    [
      { model: 'ollama/x', baseUrl: 'file:///x', environment: {} },
      expect.stringContaining('--base-url takes an address'),
    ],
  ])('refuses %j', (wish, message) => {
    expect(() => chooseModel(wish)).toThrow(expect.objectContaining({ code: 'usage', message }));
  });
});

describe('hasKey', () => {
  it('tells whether a model can be chosen although none is named', () => {
    expect(hasKey({})).toBe(false);
    expect(hasKey({ ANTHROPIC_API_KEY: '' })).toBe(false);
    expect(hasKey({ GEMINI_API_KEY: 'k' })).toBe(true);
  });
});
