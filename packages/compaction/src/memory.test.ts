import { MessageList, type Message, type ModelRequest, type TurnEvent, type TurnOperator } from '@h/turn';
import { event, failure, request, response, user } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { conversation } from '../test/conversations.js';
import { paraphrasing, recorded } from '../test/summarizers.js';
import { compaction } from './compaction.js';
import { createTokenCounter } from './counting/token-counter.js';
import { compactionMemory, project, type CompactionMemory, type Projection } from './memory.js';
import { noNotes } from './notes.js';

const { messages: long } = conversation({ isOpen: false });
const size = createTokenCounter().messages(long);
const changes = [
  'compaction.started',
  'compaction.done',
  'compaction.failed',
  'model.request',
  'session.state',
  'history.replace',
];

describeOperator(() => compaction({ window: 60, reserve: 10, summarize: () => 'Short.', memory: compactionMemory() }), {
  changes,
});

const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** A host that owns its history and sends all of it, in new objects, with a cache mark that moves. */
const hostOf = (operator: () => TurnOperator) => {
  let history: Message[] = [...long];
  return {
    get history() {
      return history;
    },
    add: (...messages: readonly Message[]): void => {
      history.push(...messages);
    },
    branch: (length: number): void => {
      history = history.slice(0, length);
    },
    /** One call as a bridge makes it: a separate turn. Returns the request that was sent, and all notices. */
    send: (
      error?: string,
    ): Promise<{ readonly sent: readonly ModelRequest[]; readonly events: readonly TurnEvent[] }> =>
      new Promise((resolve, reject) => {
        const events: TurnEvent[] = [];
        const sent: ModelRequest[] = [];
        const top = new Subject<TurnEvent>();
        const feed = (next: TurnEvent): void => queueMicrotask(() => top.next(next));
        const last = history.length - 1;
        const messages = structuredClone(history).map((message, index) =>
          index === last ? { ...message, providerOptions: mark } : message,
        );
        const answer = (): void => {
          if (error === undefined || sent.length > 1) {
            feed(event('model.response', { step: 1, attempt: 1, ...response('ok') }));
          } else feed(event('model.error', { step: 1, attempt: 1, error: failure(error, { status: 400 }) }));
        };
        const subscription = top.pipe(operator()).subscribe({
          error: reject,
          next: (left) => {
            events.push(left);
            if (left.type === 'turn.start') {
              feed(event('model.request', { step: 1, attempt: 1, ...request({ messages }) }));
            }
            if (left.type === 'model.request') sent.push(left);
            if (left.type === 'model.request') answer();
            if (left.type === 'model.error' && left.retrying === true) {
              feed(event('model.request', { step: 1, attempt: 2, ...request({ messages }) }));
            } else if (left.type !== 'model.response' && left.type !== 'model.error') return;
            else {
              subscription.unsubscribe();
              resolve({ sent, events });
            }
          },
        });
        feed(event('turn.start', { session: 'host', input: [user('Hi')], trigger: 'user' }));
      }),
  };
};

const bytesOf = ({ messages }: ModelRequest): string =>
  JSON.stringify([...messages].map(({ role, content }) => ({ role, content })));

describe('around a host that owns the history', () => {
  it('applies one decision to each request, byte for byte, and pays for it once', async () => {
    const memory = new Map<string, Projection>();
    const summarize = recorded(paraphrasing);
    const host = hostOf(() => compaction({ window: size / 0.8, reserve: 0, summarize, memory, maxCorrections: 0 }));
    const first = await host.send();
    const paid = summarize.requests.length;
    expect(paid).toBeGreaterThan(0);
    expect(first.events.some(({ type }) => type === 'compaction.done')).toBe(true);
    expect(first.events.some(({ type }) => type === 'history.replace' || type === 'session.state')).toBe(false);
    let before = bytesOf(first.sent[0] as ModelRequest);
    for (let turn = 0; turn < 5; turn += 1) {
      host.add({ role: 'assistant', content: `Answer ${turn}` }, user(`Question ${turn}`));
      const { sent } = await host.send();
      const bytes = bytesOf(sent[0] as ModelRequest);
      expect(bytes.startsWith(before.slice(0, -1))).toBe(true);
      expect(bytes).toContain(`Question ${turn}`);
      before = bytes;
    }
    expect(summarize.requests).toHaveLength(paid);
    expect(memory.size).toBe(1);
    expect(host.history).toHaveLength(long.length + 10);
  });

  it('continues from the previous compaction', async () => {
    const memory = compactionMemory();
    const summarize = recorded(paraphrasing);
    const host = hostOf(() => compaction({ window: size / 0.8, reserve: 0, summarize, memory, maxCorrections: 0 }));
    await host.send();
    host.add(...conversation({ seed: 'b', isOpen: false }).messages);
    const { sent } = await host.send();
    expect(summarize.requests.some(({ text }) => text.includes('report on what came before'))).toBe(true);
    const summaries = [...(sent[0] as ModelRequest).messages].filter(({ metadata }) => metadata?.kind === 'summary');
    expect(summaries).toHaveLength(1);
  });

  it('decides separately for a conversation that branched off earlier', async () => {
    const memory = compactionMemory();
    const summarize = recorded(paraphrasing);
    const host = hostOf(() => compaction({ window: size / 0.8, reserve: 0, summarize, memory, maxCorrections: 0 }));
    await host.send();
    const paid = summarize.requests.length;
    host.branch(long.length - 2);
    const { sent } = await host.send();
    expect(summarize.requests.length).toBeGreaterThan(paid);
    expect((sent[0] as ModelRequest).messages.length).toBeLessThan(long.length / 2);
  });

  it('remembers a failure and does not repeat it with each request', async () => {
    const memory = compactionMemory();
    const summarize = recorded(() => Promise.reject(new Error('503')));
    const host = hostOf(() =>
      compaction({ window: size / 0.8, reserve: 0, summarize, memory, strategy: 'summarize', maxAttempts: 1 }),
    );
    const failures = async (): Promise<number> =>
      (await host.send()).events.filter(({ type }) => type === 'compaction.failed').length;
    expect(await failures()).toBe(1);
    host.add({ role: 'assistant', content: 'ok' }, user('More'));
    expect(await failures()).toBe(0);
    host.add({ role: 'assistant', content: 'ok' }, user('word '.repeat(size * 0.05)));
    expect(await failures()).toBe(1);
  });

  it('an overflow error is answered with a smaller request, which is remembered', async () => {
    const memory = compactionMemory();
    const host = hostOf(() =>
      compaction({ window: size * 3, reserve: 0, summarize: paraphrasing, memory, maxCorrections: 0 }),
    );
    const { sent } = await host.send('prompt is too long');
    expect(sent).toHaveLength(2);
    expect(sent[1]?.messages.length).toBeLessThan(long.length / 2);
    host.add({ role: 'assistant', content: 'ok' }, user('More'));
    const next = await host.send();
    expect(bytesOf(next.sent[0] as ModelRequest).startsWith(bytesOf(sent[1] as ModelRequest).slice(0, -1))).toBe(true);
  });
});

describe('compactionMemory', () => {
  const history = MessageList.of([user('a'), user('b'), user('c')]);
  const projection = (covers: number): Projection => ({ covers, messages: [user('ab')], notes: noNotes });

  it('finds the longest decision about the beginning of a history', () => {
    const memory = compactionMemory();
    const keyOf = (length: number): string => project(memory, MessageList.of(history.slice(0, length))).key;
    memory.set(keyOf(1), projection(1));
    memory.set(keyOf(2), projection(2));
    expect(project(memory, history).projection?.covers).toBe(2);
    expect([...project(memory, history).messages]).toEqual([user('ab'), user('c')]);
  });

  it('tells histories apart by what they say, not by options or marks', () => {
    const memory = compactionMemory();
    const { key } = project(memory, history);
    const marked = MessageList.of([
      user('a'),
      user('b'),
      { ...user('c'), providerOptions: { anthropic: { cacheControl: {} } } },
    ]);
    expect(project(memory, marked).key).toBe(key);
    expect(project(memory, MessageList.of([user('a'), user('bc')])).key).not.toBe(key);
    const withPart = (options: object): string =>
      project(memory, MessageList.of([{ role: 'user', content: [{ type: 'text', text: 'a', ...options }] }])).key;
    expect(withPart({ providerOptions: mark })).toBe(withPart({}));
    const withBytes = (bytes: Uint8Array): string =>
      project(memory, MessageList.of([{ role: 'user', content: [{ type: 'image', image: bytes }] }])).key;
    expect(withBytes(new Uint8Array([1, 2]))).toBe(withBytes(new Uint8Array([1, 2])));
    expect(withBytes(new Uint8Array([1, 2]))).not.toBe(withBytes(new Uint8Array([1, 3])));
  });

  it('forgets what was not used for the longest time', () => {
    const memory = compactionMemory({ maxEntries: 2 });
    memory.set('a', projection(1));
    memory.set('b', projection(1));
    memory.get('a');
    memory.set('c', projection(1));
    expect([memory.get('a'), memory.get('b'), memory.get('c')].map(Boolean)).toEqual([true, false, true]);
  });

  it('may be a map', () => {
    const memory: CompactionMemory = new Map<string, Projection>();
    memory.set('a', projection(1));
    expect(compaction({ memory })).toBeTypeOf('function');
  });

  it('refuses what it does not know', () => {
    expect(() => compactionMemory({ max: 3 } as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }));
  });
});
