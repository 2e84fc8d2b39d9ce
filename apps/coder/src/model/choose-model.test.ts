import { describe, expect, it } from 'vitest';
import { chooseModel, hasKey } from './choose-model.js';

const nameOf = (request: Parameters<typeof chooseModel>[0]): string => chooseModel(request).name;

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

  it('accepts any provider name with --base-url', () => {
    expect(nameOf({ model: 'local/qwen', baseUrl: 'http://127.0.0.1:8080/v1', environment: {} })).toBe('local/qwen');
  });

  it('defaults to the first provider with a key', () => {
    expect(nameOf({ environment: { OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' } })).toBe('openai/gpt-5.1');
    expect(nameOf({ environment: { ANTHROPIC_API_KEY: '', GEMINI_API_KEY: 'k' } })).toBe('google/gemini-2.5-pro');
  });

  it.each<[request: Parameters<typeof chooseModel>[0], message: unknown]>([
    [
      { environment: {} },
      'No model is configured. Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, or pass --model provider/model.',
    ],
    [
      { model: 'anthropic/claude-sonnet-4-5', environment: {} },
      'anthropic/claude-sonnet-4-5 requires a key. Set ANTHROPIC_API_KEY.',
    ],
    [
      { model: 'anthropic/claude-sonnet-4-5', environment: { ANTHROPIC_API_KEY: '' } },
      'anthropic/claude-sonnet-4-5 requires a key. Set ANTHROPIC_API_KEY.',
    ],
    [
      { model: 'google/gemini-2.5-pro', environment: {} },
      'google/gemini-2.5-pro requires a key. Set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY.',
    ],
    [
      { model: 'antropic/claude', environment: {} },
      'The provider "antropic" is unknown. Use anthropic, openai, google, ollama, or pass the URL of an OpenAI-compatible server with --base-url.',
    ],
    [{ model: 'constructor/x', environment: {} }, expect.stringContaining('The provider "constructor" is unknown')],
    [
      { model: 'claude', environment: {} },
      '--model must be provider/model, such as anthropic/claude-sonnet-4-5, but is "claude".',
    ],
    [{ model: 'ollama/', environment: {} }, expect.stringContaining('--model must be provider/model')],
    [{ model: '/x', environment: {} }, expect.stringContaining('--model must be provider/model')],
    [
      { model: 'ollama/x', baseUrl: 'localhost', environment: {} },
      '--base-url must be an http or https URL, but is "localhost". Example: http://127.0.0.1:11434/v1',
    ],
    [
      { model: 'ollama/x', baseUrl: 'file:///x', environment: {} },
      expect.stringContaining('--base-url must be an http or https URL'),
    ],
  ])('rejects %j', (request, message) => {
    expect(() => chooseModel(request)).toThrow(expect.objectContaining({ code: 'usage', message }));
  });
});

describe('hasKey', () => {
  it('returns whether a key selects a default model', () => {
    expect(hasKey({})).toBe(false);
    expect(hasKey({ ANTHROPIC_API_KEY: '' })).toBe(false);
    expect(hasKey({ GEMINI_API_KEY: 'k' })).toBe(true);
  });
});
