import type { LanguageModelV4 } from '@ai-sdk/provider';
import { intercept, retry, stop, type PipelineOperator } from '@h/turn';
import { generateText, isStepCount, streamText, tool } from 'ai';
import { tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  anthropicAt,
  anthropicBlock,
  anthropicEnd,
  anthropicStart,
  openaiAt,
  sendAnthropic,
  startMock,
  startServer,
} from '../test/servers.js';
import { TurnStoppedError } from '@h/bridge';
import { wrapModel } from './wrap-model.js';

/** The same model call by the AI SDK, without and with streaming. */
const hosts: readonly (readonly [string, (model: LanguageModelV4, more?: object) => Promise<string>])[] = [
  [
    'generateText',
    async (model, more) => (await generateText({ model, prompt: 'hello', maxRetries: 0, ...more })).text,
  ],
  [
    'streamText',
    async (model, more) => {
      const errors: unknown[] = [];
      const result = streamText({
        model,
        prompt: 'hello',
        maxRetries: 0,
        onError: ({ error }) => void errors.push(error),
        ...more,
      });
      let text = '';
      for await (const chunk of result.textStream) text += chunk;
      if (errors.length > 0) throw errors[0];
      return text;
    },
  ],
];

/** Retries a failed call up to `times` times. */
const again = (times: number): PipelineOperator =>
  intercept('again', () => ({
    decide: { 'model.error': (event) => (event.attempt <= times ? retry(event) : undefined) },
  }));

const rewriting = intercept('rewriting', () => ({
  decide: {
    'model.request': (event) => ({
      ...event,
      system: [...event.system, { text: 'Answer in Latin.', cache: {} }],
      settings: { ...event.settings, temperature: 0.25 },
      tail: [{ role: 'user', content: 'It is noon.' }],
    }),
  },
}));

describe.each(hosts)('wrapModel within %s', (_, ask) => {
  it('changes nothing without operators', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'Good morning.' });
    expect(await ask(wrapModel(openaiAt(mock.url).chat('gpt-4o')))).toBe('Good morning.');
  });

  it('lets an operator rewrite the request', async () => {
    const server = await startServer((response, { body }) => {
      if (body['stream'] !== true) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            ...anthropicStart().message,
            content: [{ type: 'text', text: 'Salve.' }],
            stop_reason: 'end_turn',
          }),
        );
        return;
      }
      sendAnthropic(response, [
        anthropicStart(),
        ...anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Salve.' }]),
        ...anthropicEnd(),
      ]);
      response.end();
    });
    const model = wrapModel(anthropicAt(server.url)('claude-sonnet-4-5'), rewriting);
    expect(await ask(model, { instructions: 'Be brief.', temperature: 1 })).toBe('Salve.');
    expect(server.requests[0]?.body).toMatchObject({
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Answer in Latin.', cache_control: { type: 'ephemeral' } },
      ],
      messages: [{ role: 'user', content: [{ text: 'hello' }, { text: 'It is noon.' }] }],
      temperature: 0.25,
    });
  });

  it('lets an operator retry after an error', async () => {
    const mock = await startMock();
    mock.on(
      { userMessage: 'hello', sequenceIndex: 0 },
      { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 },
    );
    mock.on(
      { userMessage: 'hello', sequenceIndex: 1 },
      { error: { message: 'Slow down', type: 'rate_limit_error' }, status: 429 },
    );
    mock.onMessage('hello', { content: 'At last.' });
    expect(await ask(wrapModel(anthropicAt(mock.url)('claude-sonnet-4-5'), again(2)))).toBe('At last.');
    expect(mock.getRequests()).toHaveLength(3);
  });

  it('passes the error of the model to the host if no operator retries', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
    const asked = ask(wrapModel(anthropicAt(mock.url)('claude-sonnet-4-5'), again(1)));
    await expect(asked).rejects.toMatchObject({ name: 'AI_APICallError', statusCode: 529, message: 'Overloaded' });
    expect(mock.getRequests()).toHaveLength(2);
  });

  it('lets an operator stop the turn before the model is called', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'Never.' });
    const closed = intercept('closed', () => ({ decide: { 'model.request': () => stop('blocked', 'It is Sunday.') } }));
    const asked = ask(wrapModel(openaiAt(mock.url).chat('gpt-4o'), closed));
    await expect(asked).rejects.toThrow(TurnStoppedError);
    await expect(asked).rejects.toMatchObject({ code: 'turn-stopped', outcome: 'blocked', reason: 'It is Sunday.' });
    expect(mock.getRequests()).toHaveLength(0);
  });

  it('lets an operator stop the turn after the answer', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'The secret is 42.' });
    const guard = intercept('guard', () => ({ decide: { 'model.response': () => stop('blocked', 'A secret.') } }));
    await expect(ask(wrapModel(openaiAt(mock.url).chat('gpt-4o'), guard))).rejects.toMatchObject({
      outcome: 'blocked',
    });
  });

  it('passes the events of a complete turn to operators, in order', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'Good morning.', usage: { prompt_tokens: 5, completion_tokens: 3 } });
    const seen: string[] = [];
    const log = intercept('log', () => ({
      observe: {
        '*': (event) => void (event.type === 'model.delta' ? undefined : seen.push(event.type)),
        'turn.start': ({ session, input }) => void seen.push(`${session}: ${JSON.stringify(input)}`),
        'turn.end': ({ outcome, usage, steps }) => void seen.push(`${outcome} ${steps} ${usage.input} ${usage.output}`),
      },
      finalize: () => void seen.push('finalized'),
    }));
    await ask(wrapModel(openaiAt(mock.url).chat('gpt-4o'), log), { providerOptions: { h: { session: 'alice' } } });
    expect(seen).toEqual([
      'turn.start',
      'alice: [{"role":"user","content":[{"type":"text","text":"hello"}]}]',
      'session.loaded',
      'history.append',
      'model.request',
      'model.response',
      'history.append',
      'turn.stop',
      'turn.end',
      'completed 1 5 3',
      'finalized',
    ]);
    expect(JSON.stringify(mock.getRequests()[0]?.body)).not.toContain('alice');
  });

  it('supports native RxJS operators in the pipe', async () => {
    const mock = await startMock();
    mock.onMessage('noon', { content: 'Good morning.' });
    let events = 0;
    expect(
      await ask(
        wrapModel(
          openaiAt(mock.url).chat('gpt-4o'),
          again(1),
          tap(() => (events += 1)),
          rewriting,
        ),
      ),
    ).toBe('Good morning.');
    expect(events).toBeGreaterThan(4);
  });

  it('passes the error of a failing operator to the host, with the name of the operator', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'Good morning.' });
    const broken = (name: string, type: 'turn.start' | 'model.request' | 'model.response') =>
      intercept(name, () => ({
        decide: {
          [type]: () => {
            throw new Error('Oh no.');
          },
        },
      }));
    for (const type of ['turn.start', 'model.request', 'model.response'] as const) {
      const asked = ask(wrapModel(openaiAt(mock.url).chat('gpt-4o'), broken('clumsy', type)));
      await expect(asked).rejects.toMatchObject({ code: 'operator-failed', operator: 'clumsy' });
    }
    const failing = intercept('hasty', () => {
      throw new Error('Not even begun.');
    });
    expect(() => wrapModel(openaiAt(mock.url).chat('gpt-4o'), failing)).toThrow(
      expect.objectContaining({ code: 'operator-failed', operator: 'hasty' }),
    );
  });

  it('ends the turn and closes the connection when the host aborts', async () => {
    let gone = (): void => undefined;
    const closed = new Promise<void>((resolve) => (gone = resolve));
    const abort = new AbortController();
    const server = await startServer((response) => {
      response.on('close', gone);
      abort.abort();
    });
    const ends: string[] = [];
    const log = intercept('log', () => ({
      observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) },
      finalize: () => void ends.push('finalized'),
    }));
    const asked = ask(wrapModel(openaiAt(server.url).chat('gpt-4o'), log), { abortSignal: abort.signal });
    await asked.catch(() => undefined);
    await closed;
    expect(ends).toEqual(['cancelled', 'finalized']);
  });

  it('stops an operator that retries forever', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { error: { message: 'No.', type: 'overloaded_error' }, status: 529 });
    const asked = ask(wrapModel(openaiAt(mock.url).chat('gpt-4o'), again(Infinity)));
    await expect(asked).rejects.toMatchObject({ code: 'turn-stopped', outcome: 'max-steps' });
    expect(mock.getRequests()).toHaveLength(100);
  });

  it('lets an operator answer in place of the model', async () => {
    const mock = await startMock();
    const cached = intercept('cached', () => ({
      decide: {
        'model.request': ({ step, attempt }) => ({
          type: 'model.response',
          step,
          attempt,
          content: [{ type: 'text', text: 'As before.' }],
          finishReason: 'stop',
          usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
        }),
      },
    }));
    expect(await ask(wrapModel(openaiAt(mock.url).chat('gpt-4o'), cached))).toBe('As before.');
    expect(mock.getRequests()).toHaveLength(0);
  });

  it('rejects a request for another model', async () => {
    const mock = await startMock();
    const switching = intercept('switching', () => ({
      decide: { 'model.request': (event) => ({ ...event, model: 'gpt-9' }) },
    }));
    await expect(ask(wrapModel(openaiAt(mock.url).chat('gpt-4o'), switching))).rejects.toMatchObject({
      code: 'unknown-model',
    });
  });

  it('lets operators see tool definitions and remove calls of host tools', async () => {
    const mock = await startMock();
    const call = (town: string) => ({ name: 'weather', arguments: JSON.stringify({ town }), id: `call_${town}` });
    mock.on(
      { userMessage: 'hello', hasToolResult: false },
      { content: 'Let me look.', toolCalls: [call('Rome'), call('Oslo')] },
    );
    mock.on({ hasToolResult: true }, { content: 'It is fine.' });
    const asked: string[] = [];
    const offered: string[] = [];
    const noOslo = intercept('no-oslo', () => ({
      observe: { 'model.request': ({ tools }) => void offered.push(...tools.map(({ name }) => name)) },
      decide: {
        'model.response': (event) => ({
          ...event,
          content: event.content.filter((part) => part.type !== 'tool-call' || part.toolCallId !== 'call_Oslo'),
        }),
      },
    }));
    const weather = tool({
      description: 'Tells the weather.',
      inputSchema: z.object({ town: z.string() }),
      execute: ({ town }) => {
        asked.push(town);
        return 'sun';
      },
    });
    const more = { tools: { weather }, stopWhen: isStepCount(3) };
    expect(await ask(wrapModel(anthropicAt(mock.url)('claude-sonnet-4-5'), noOslo), more)).toContain('It is fine.');
    expect(asked).toEqual(['Rome']);
    expect(offered).toEqual(['weather', 'weather']);
  });
});

describe('wrapModel with operators that need tool events', () => {
  const model = openaiAt('http://127.0.0.1:9').chat('gpt-4o');
  const needing = (type: 'tool.call' | 'tool.result' | 'approval.request', kind: 'decide' | 'observe') =>
    intercept('tool-guard', () => ({ [kind]: { [type]: () => undefined, 'model.request': () => undefined } }));

  it.each([
    ['tool.call', 'decide'],
    ['tool.result', 'decide'],
    ['tool.result', 'observe'],
    ['approval.request', 'decide'],
  ] as const)('rejects an operator with a handler for %s in %s', (type, kind) => {
    expect(() => wrapModel(model, rewriting, needing(type, kind))).toThrow(
      expect.objectContaining({
        name: 'UnsupportedOperatorError',
        code: 'unsupported-operator',
        operator: 'tool-guard',
        events: [type],
        host: 'the AI SDK',
        alternative: expect.stringContaining('attach(') as string,
        message: expect.stringMatching(/"tool-guard" handles .*the AI SDK.*attach\(.*partial: true/) as string,
      }),
    );
  });

  it('emits a warning instead of an error if `partial` is set', async () => {
    const warned = new Promise<Error & { code?: string }>((resolve) => void process.once('warning', resolve));
    wrapModel(model, { partial: true }, needing('tool.call', 'decide'));
    expect(await warned).toMatchObject({
      code: 'unsupported-operator',
      message: expect.stringContaining('"tool-guard"') as string,
    });
  });

  it.each([
    ['a model name', () => wrapModel('openai/gpt-4o' as unknown as LanguageModelV4), /but is "openai\/gpt-4o"/],
    ['undefined', () => wrapModel(undefined as unknown as LanguageModelV4), /but is undefined/],
    ['a missing operator', () => wrapModel(model, undefined as never), /wrapModel\(\): operator 1 of 1 is undefined/],
    ['an invalid later operator', () => wrapModel(model, rewriting, {} as never), /operator 2 of 2 is {}/],
    ['an unknown option', () => wrapModel(model, { partail: true } as object), /partial/],
  ])('rejects %s', (_, make, message) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) as string }),
    );
  });
});
