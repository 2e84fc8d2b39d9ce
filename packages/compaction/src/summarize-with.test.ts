import { harness, memorySessions, reply } from '@h/turn';
import { failure, response, scriptedModel, type ScriptedModel, type ScriptStep } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { conversation } from '../test/conversations.js';
import { compaction } from './compaction.js';
import { createTokenCounter } from './counting/token-counter.js';
import { summarizeWith, type SummarizeWithOptions } from './summarize-with.js';
import type { SummarizeAnswer } from './summary/summarize.js';

const ask = (
  step: ScriptStep,
  options?: SummarizeWithOptions,
  signal = new AbortController().signal,
): { readonly model: ScriptedModel; readonly answer: Promise<SummarizeAnswer> } => {
  const model = scriptedModel([step]);
  const request = {
    purpose: 'summarize',
    instructions: 'Report.',
    text: 'The transcript.',
    maxOutputTokens: 500,
  } as const;
  return {
    model,
    answer: Promise.resolve(summarizeWith(model, options)(request, { turn: 'turn-1', session: 'alice', signal })),
  };
};

describe('summarizeWith', () => {
  it('asks the model once, with the text as data and without tools', async () => {
    const { model, answer } = ask('The report.');
    expect(await answer).toEqual({ text: 'The report.', usage: response('').usage });
    expect(model.requests).toHaveLength(1);
    const [request] = model.requests;
    expect(request).toMatchObject({
      system: [{ text: 'Report.' }],
      tools: [],
      tail: [],
      settings: { maxOutputTokens: 500 },
    });
    expect(request?.messages.toArray()).toEqual([{ role: 'user', content: 'The transcript.' }]);
    expect(request && 'model' in request).toBe(false);
  });

  it('names the model, the credential and the settings that it was given', async () => {
    const { model, answer } = ask('The report.', {
      model: 'small',
      credential: 'key-2',
      settings: { temperature: 0, maxOutputTokens: 99 },
    });
    await answer;
    expect(model.requests[0]).toMatchObject({
      model: 'small',
      credential: 'key-2',
      settings: { temperature: 0, maxOutputTokens: 99 },
    });
  });

  it('fails with what the model has said', async () => {
    const { answer } = ask({ error: failure('Too many requests', { code: 'rate-limit', status: 429 }) });
    await expect(answer).rejects.toMatchObject({ name: 'SummarizerError', code: 'rate-limit', info: { status: 429 } });
  });

  it.each<readonly [string, ScriptStep, string]>([
    ['an answer that is cut off', { ...response('The re'), finishReason: 'length' }, 'summary-cut'],
    ['a stream without an answer', { cut: ['The'] }, 'incomplete-stream'],
  ])('takes %s as a failure', async (_, step, code) => {
    await expect(ask(step).answer).rejects.toMatchObject({ code });
  });

  it('leaves the model when the answer is no longer wanted', async () => {
    const controller = new AbortController();
    const { model, answer } = ask({ never: ['The'] }, {}, controller.signal);
    expect(model.active).toBe(1);
    controller.abort(new Error('No more.'));
    await expect(answer).rejects.toThrow('No more.');
    expect(model.active).toBe(0);
  });

  it('rejects a model that is not a driver', () => {
    expect(() => summarizeWith({ modelId: 'small' } as never)).toThrow(
      /^summarizeWith\(\): "driver" must be a model driver, such as languageModel/,
    );
  });

  it('asks nothing when it is too late', async () => {
    const { answer, model } = ask('The report.', {}, AbortSignal.abort(new Error('Too late.')));
    await expect(answer.catch(() => 'refused')).resolves.toBeDefined();
    expect(model.active).toBe(0);
  });

  it('summarizes in a turn, with the driver of the harness', async () => {
    const { messages } = conversation({ files: 40, isOpen: false });
    const size = createTokenCounter().messages(messages);
    const model = scriptedModel([
      ({ messages: asked }) => (asked.length === 1 ? 'The report.' : 'Done.'),
      'The report, mended.',
      'Done.',
    ]);
    const agent = harness({ model, sessions: memorySessions({ alice: messages }) }).pipe(
      compaction({ window: size, reserve: 0, summarize: summarizeWith(model) }),
    );
    const { outcome, text, usage } = await reply(agent.turn({ session: 'alice', input: 'Continue.' }));
    expect({ outcome, text }).toEqual({ outcome: 'completed', text: 'Done.' });
    expect(usage.input).toBe(10);
  });

  it.each([
    [
      { modell: 'x' },
      'summarizeWith(): unknown option "modell" (received "x"). Did you mean "model"? Known options: model, credential, settings.',
    ],
    [{ model: 1 }, 'summarizeWith(): "model" must be a string; received 1.'],
  ])('refuses %j', (options, message) => {
    expect(() => summarizeWith(scriptedModel([]), options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message }),
    );
  });
});
