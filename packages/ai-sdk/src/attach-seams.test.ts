import type {
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { deny, intercept, stop, type TurnEvent, type TurnOperator } from '@h/turn';
import {
  APICallError,
  generateText,
  simulateReadableStream,
  streamText,
  tool,
  ToolLoopAgent,
  toolSearch,
  wrapLanguageModel,
} from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { answer, usage } from '../test/answers.js';
import { attach } from './attach.js';

const text = (value: string) => answer({ type: 'text', text: value });
const call = (toolName: string) => answer({ type: 'tool-call', toolCallId: `${toolName}-1`, toolName, input: '{}' });
const scripted = (...answers: readonly LanguageModelV4GenerateResult[]) =>
  new MockLanguageModelV4({ doGenerate: [...answers] });
const reading = (execute: (options: { readonly abortSignal?: AbortSignal | undefined }) => unknown) => ({
  read: tool({ inputSchema: z.object({}), execute: (_, options) => execute(options) }),
});
const oneStep = intercept('one-step', () => ({
  decide: { 'model.request': ({ step }) => (step > 1 ? stop('max-steps', 'One step is enough.') : undefined) },
}));
const spy = () => {
  const events: TurnEvent[] = [];
  const operator = intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } }));
  const ends = () => events.flatMap((event) => (event.type === 'turn.end' ? [event.outcome] : []));
  const results = () => events.flatMap((event) => (event.type === 'tool.result' ? [event.status] : []));
  return { operator, ends, results };
};

describe('a model that the host chose for a step', () => {
  const other = () => scripted(text('Past the operators.'));
  const first = () => scripted(call('read'));
  const switching = (model: MockLanguageModelV4, operator: TurnOperator) =>
    attach(
      {
        model: first(),
        tools: reading(() => 'text'),
        prepareStep: ({ stepNumber }) => (stepNumber > 0 ? { model } : {}),
      },
      operator,
    );

  it('passes the operators if prepareStep chose it', async () => {
    const stronger = other();
    const settings = switching(stronger, oneStep);
    expect((await generateText({ ...settings, prompt: 'Read.' })).text).toBe('One step is enough.');
    expect(stronger.doGenerateCalls).toEqual([]);
  });

  it('passes the operators if prepareCall chose it, or if it is passed beside the settings', async () => {
    const none = intercept('none', () => ({ decide: { 'model.request': () => stop('max-steps', 'No step.') } }));
    const settings = attach({ model: first() }, none);
    const model = other();
    const agent = new ToolLoopAgent({ ...settings, prepareCall: (prepared) => ({ ...prepared, model }) });
    expect((await agent.generate({ prompt: 'Read.' })).text).toBe('No step.');
    expect((await generateText({ ...settings, model, prompt: 'Read.' })).text).toBe('No step.');
    expect(model.doGenerateCalls).toEqual([]);
  });

  it('receives the request of the step, and its answer belongs to the turn', async () => {
    const { operator, ends } = spy();
    const stronger = other();
    const settings = switching(stronger, operator);
    expect((await generateText({ ...settings, prompt: 'Read.' })).text).toBe('Past the operators.');
    expect(stronger.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(ends()).toEqual(['completed']);
  });

  it.each([
    ['plain', {}],
    ['with URLs of its own', { overrideSupportedUrls: () => ({}) }],
  ])('passes them once if it is a middleware around the attached model: %s', async (_, middleware) => {
    const { operator, ends } = spy();
    const inner = new MockLanguageModelV4({
      doGenerate: [text('Hello.')],
      doStream: {
        stream: simulateReadableStream<LanguageModelV4StreamPart>({
          chunks: [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'Hello.' },
            { type: 'text-end', id: '1' },
            { type: 'finish', finishReason: { unified: 'stop', raw: '' }, usage },
          ],
        }),
      },
    });
    const settings = attach({ model: inner, session: 'alice' }, operator);
    const model = wrapLanguageModel({
      model: settings.model,
      middleware: { specificationVersion: 'v4', ...middleware },
    });
    const options = { openai: { user: 'u' } };
    const given = { ...settings, model, prompt: 'Hi', providerOptions: options };
    expect((await generateText(given)).text).toBe('Hello.');
    expect(ends()).toEqual(['completed']);
    expect(inner.doGenerateCalls.map(({ providerOptions }) => providerOptions)).toEqual([options]);
    expect(await streamText(given).text).toBe('Hello.');
    expect(ends()).toEqual(['completed', 'completed']);
    expect(inner.doStreamCalls.map(({ providerOptions }) => providerOptions)).toEqual([options]);
  });

  it('receives what a middleware around the attached model adds', async () => {
    const seen: number[] = [];
    const operator = intercept('seen', () => ({
      observe: { 'model.request': ({ messages }) => void seen.push([...messages].length) },
    }));
    const settings = attach({ model: scripted(text('Hello.')), session: 'alice' }, operator);
    const model = wrapLanguageModel({
      model: settings.model,
      middleware: {
        specificationVersion: 'v4',
        transformParams: async ({ params }) => ({
          ...params,
          prompt: [...params.prompt, { role: 'user', content: [{ type: 'text', text: 'More.' }] }],
        }),
      },
    });
    await generateText({ ...settings, model, prompt: 'Hi' });
    expect(seen).toEqual([2]);
  });

  it('must be an object, because a name does not lead to the operators', async () => {
    const settings = attach({ model: first(), prepareStep: () => ({ model: 'openai/gpt-5' }) });
    await expect(generateText({ ...settings, prompt: 'Read.' })).rejects.toThrow(
      'prepareStep(): model must be a model of the AI SDK, but is "openai/gpt-5".',
    );
  });
});

describe('an abort', () => {
  it('of one tool call is its result, and the turn continues', async () => {
    const { operator, ends, results } = spy();
    const aborted = ({ abortSignal }: { readonly abortSignal?: AbortSignal | undefined }) =>
      new Promise((_, reject) => {
        abortSignal?.addEventListener('abort', () => reject(abortSignal.reason as Error));
      });
    const settings = attach({ model: scripted(call('read'), text('Done.')), tools: reading(aborted) }, operator);
    const waiting = setInterval(() => undefined, 1000);
    const result = await generateText({ ...settings, prompt: 'Read.', timeout: { toolMs: 5 } });
    clearInterval(waiting);
    expect(result.text).toBe('Done.');
    expect(results()).toEqual(['failed']);
    expect(ends()).toEqual(['completed']);
  });

  it.each([{ toolMs: 60_000 }, {}])(
    'of the run during a tool call cancels the turn, with timeout %j',
    async (timeout) => {
      const { operator, ends, results } = spy();
      const host = new AbortController();
      const settings = attach(
        {
          model: scripted(call('read'), text('Done.')),
          tools: reading(() => {
            host.abort();
            return new Promise(() => undefined);
          }),
        },
        operator,
      );
      const run = generateText({ ...settings, prompt: 'Read.', abortSignal: host.signal, timeout });
      await expect(run).rejects.toThrow('abort');
      expect(results()).toEqual(['cancelled']);
      expect(ends()).toEqual(['cancelled']);
    },
  );

  it('between two steps cancels the turn at once', async () => {
    const { operator, ends } = spy();
    const host = new AbortController();
    const settings = attach({ model: scripted(call('read'), text('Done.')), tools: reading(() => 'text') }, operator);
    const run = generateText({
      ...settings,
      prompt: 'Read.',
      abortSignal: host.signal,
      onStepEnd: () => host.abort(),
    });
    await expect(run).rejects.toThrow('abort');
    expect(ends()).toEqual(['cancelled']);
  });
});

it('judges a call that the host repaired to a call of another tool', async () => {
  const { operator } = spy();
  const policy = intercept('policy', () => ({
    decide: { 'tool.call': (event) => (event.call.name === 'read' ? deny(event, 'Not this one.') : undefined) },
  }));
  const read = vi.fn();
  const settings = attach({ model: scripted(call('reed'), text('Done.')), tools: reading(read) }, policy, operator);
  const repairToolCall = async ({ toolCall }: { readonly toolCall: LanguageModelV4ToolCall }) => ({
    ...toolCall,
    toolName: 'read',
  });
  expect((await generateText({ ...settings, prompt: 'Read.', repairToolCall })).text).toBe('Done.');
  expect(read).not.toHaveBeenCalled();
});

it('leaves the retries of the SDK to the SDK', async () => {
  const { operator, ends } = spy();
  const overloaded = new APICallError({
    message: 'Overloaded.',
    url: '',
    requestBodyValues: {},
    statusCode: 503,
    responseHeaders: { 'retry-after-ms': '1' },
  });
  const answers = [() => Promise.reject(overloaded), async () => text('Hello.')];
  const model = new MockLanguageModelV4({ doGenerate: () => (answers.shift() as (typeof answers)[0])() });
  expect((await generateText({ ...attach({ model }, operator), prompt: 'Hi' })).text).toBe('Hello.');
  expect(ends()).toEqual(['error', 'completed']);
});

describe('toolSearch()', () => {
  const tools = { find: toolSearch(), ...reading(() => 'text') };

  it('is rejected with operators that judge calls, because the SDK replaces its execute', () => {
    const policy = intercept('policy', () => ({ decide: { 'tool.call': () => undefined } }));
    expect(() => attach({ model: scripted(), tools }, policy)).toThrow('with toolSearch() of the AI SDK ("find")');
  });

  it('is observed by all others', async () => {
    const { operator, results } = spy();
    const find = answer({ type: 'tool-call', toolCallId: '1', toolName: 'find', input: '{"query":"text"}' });
    const deferred = { ...tools, read: { ...tools.read, deferLoading: true } };
    await generateText({
      ...attach({ model: scripted(find, text('Done.')), tools: deferred }, operator),
      prompt: 'Find.',
    });
    expect(results()).toEqual(['ok']);
  });
});
