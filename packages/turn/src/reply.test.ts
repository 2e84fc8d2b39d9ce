import { Subject, take, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { proceed, stop } from './contract/decisions.js';
import type { TurnEvent } from './contract/events.js';
import { harness } from './harness.js';
import { intercept } from './operators/intercept.js';
import type { PipelineOperator } from './operators/pipeline.js';
import { reply } from './reply.js';
import { call, failure, response, scriptedModel, scriptedTools, user, type ScriptStep } from './testing/index.js';

const ask = (script: readonly ScriptStep[], ...operators: readonly PipelineOperator[]) =>
  reply(
    harness({ model: scriptedModel(script), tools: scriptedTools({ ls: 'a.txt' }) })
      .pipe(...operators)
      .turn({ session: 's', input: 'Go.' }),
  );

const goOnOnce = (metadata?: { readonly internal: boolean }): PipelineOperator =>
  intercept('go-on', () => {
    let isDone = false;
    return {
      decide: {
        'turn.stop': () => {
          if (isDone) return undefined;
          isDone = true;
          return proceed([{ role: 'user', content: 'Go on.', ...(metadata && { metadata }) }], 'It was cut off.');
        },
      },
    };
  });

describe('reply', () => {
  it('contains the last text of the model and the messages of the turn', async () => {
    expect(await ask([response('Let me look.', call('1', 'ls')), 'One file.'])).toEqual({
      text: 'One file.',
      outcome: 'completed',
      reason: undefined,
      error: undefined,
      usage: { input: 20, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0 },
      steps: 2,
      messages: [
        user('Go.'),
        { role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }, call('1', 'ls')] },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: '1', toolName: 'ls', output: { type: 'text', value: 'a.txt' } }],
        },
        { role: 'assistant', content: [{ type: 'text', text: 'One file.' }] },
      ],
    });
  });

  it('joins a truncated answer continued after an internal message, not after a user message', async () => {
    const cut = { ...response('Once upon '), finishReason: 'length' as const };
    expect((await ask([cut, 'a time.'], goOnOnce({ internal: true }))).text).toBe('Once upon a time.');
    expect((await ask([cut, 'a time.'], goOnOnce())).text).toBe('a time.');
  });

  it('contains the answer that replaced a draft', async () => {
    expect((await ask(['A draft.', 'Better.'], goOnOnce({ internal: true }))).text).toBe('Better.');
  });

  it('omits reasoning and tool traffic from the text', async () => {
    expect((await ask([response({ type: 'reasoning', text: 'Hm.' }, 'Yes', ', sir.')])).text).toBe('Yes, sir.');
    expect((await ask([response('Let me see.', call('1', 'ls')), response()])).text).toBe('');
  });

  it('resolves with any outcome', async () => {
    expect(await ask([{ error: failure('Down.', { status: 500 }) }])).toMatchObject({
      outcome: 'error',
      reason: 'Down.',
      error: { status: 500 },
      text: '',
      steps: 0,
    });
    const stopping = intercept('stopping', () => ({
      decide: { 'model.request': (event) => (event.step === 2 ? stop('max-steps', 'One is enough.') : undefined) },
    }));
    expect(await ask([response('Well.', call('1', 'ls'))], stopping)).toMatchObject({
      outcome: 'max-steps',
      reason: 'One is enough.',
      text: '',
      steps: 1,
    });
    const controller = new AbortController();
    const agent = harness({ model: scriptedModel([{ never: ['Hm'] }]) }).pipe();
    const cancelled = reply(agent.turn({ session: 's', input: 'Go.', signal: controller.signal }));
    controller.abort();
    expect(await cancelled).toMatchObject({ outcome: 'cancelled', messages: [user('Go.')] });
  });

  it('resolves with the messages of a stream that ends early', async () => {
    const agent = harness({ model: scriptedModel(['Hello.']) }).pipe();
    const cut$ = agent.turn({ session: 's', input: 'Go.' }).pipe(take(7));
    expect(await reply(cut$)).toMatchObject({ outcome: 'cancelled', text: 'Hello.', steps: 0 });
  });

  it('rejects only if the stream itself fails', async () => {
    await expect(reply(throwError(() => new Error('Not a turn.')))).rejects.toThrow('Not a turn.');
    const source = new Subject<TurnEvent>();
    const waiting = reply(source);
    source.complete();
    expect(await waiting).toMatchObject({ outcome: 'cancelled', text: '', messages: [] });
  });

  it.each<[string, unknown]>([
    ['an agent', harness({ model: scriptedModel([]) }).pipe()],
    ['a promise of a turn', Promise.resolve(new Subject())],
    ['nothing', undefined],
  ])('refuses %s with the fix', (_, given) => {
    expect(() => reply(given as Subject<TurnEvent>)).toThrow(
      /^reply\(\): "turn" must be a turn, as agent\.turn\(\) returns;/,
    );
  });
});
