import { InvalidInputError, type Message } from '@h/turn';
import { call } from '@h/turn/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { compact } from './compact.js';

const long = 'A line of a long file.\n'.repeat(200);
const step = (id: string): readonly Message[] => [
  { role: 'assistant', content: [call(id)] },
  {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName: 'noop', output: { type: 'text', value: long } }],
  },
];
const history: readonly Message[] = [
  { role: 'user', content: 'Look for the bug.' },
  ...Array.from({ length: 20 }, (_, index) => step(`call-${index}`)).flat(),
  { role: 'assistant', content: 'Found it.' },
  { role: 'user', content: 'Repair it.' },
];
const tight = { window: 8_000, reserve: 1_000, protectTokens: 500 };

describe('compact', () => {
  it('compacts a history, and preserves the messages that no strategy changed by identity', async () => {
    const { messages, done, failures } = await compact(history, { ...tight, strategy: 'clear-tool-results' });
    expect(failures).toEqual([]);
    expect(done).toMatchObject({ strategies: ['clear-tool-results'] });
    expect(JSON.stringify(messages).length).toBeLessThan(JSON.stringify(history).length / 2);
    expect(messages.at(-1)).toBe(history.at(-1));
    expect(messages[0]).toBe(history[0]);
  });

  it('summarizes with a function', async () => {
    const summarize = () => ({ text: 'The bug is in the parser.' });
    const { messages } = await compact(history, { ...tight, strategy: 'summarize', summarize });
    expect(messages.length).toBeLessThan(history.length);
    expect(JSON.stringify(messages)).toContain('The bug is in the parser.');
  });

  it('returns a history unchanged that cannot be made shorter, or whose summarizer fails', async () => {
    const short: readonly Message[] = [{ role: 'user', content: 'Hi' }];
    const unchanged = await compact(short);
    expect(unchanged).toMatchObject({ done: undefined });
    expect(unchanged.messages).toEqual(short);
    const summarize = () => Promise.reject(new Error('No service.'));
    const failed = await compact(history, { ...tight, strategy: 'summarize', summarize });
    expect(failed.messages).toEqual(history);
    expect(failed.done).toBeUndefined();
    expect(failed.failures.map(({ message }) => message).join()).toContain('No service.');
  });

  it('repairs a history before it compacts it', async () => {
    const { messages } = await compact([...history, { role: 'assistant', content: [call('open')] }]);
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: [{ toolCallId: 'open' }] });
  });

  it('rejects messages of another framework, and unknown options', async () => {
    const foreign = [{ role: 'toolResult', content: [] }] as unknown as readonly Message[];
    await expect(compact(foreign)).rejects.toThrow(InvalidInputError);
    await expect(compact(history, { windows: 3 } as never)).rejects.toThrow(/windows.*did you mean.*window/i);
  });

  it('rejects with the reason of its signal', async () => {
    const controller = new AbortController();
    const summarize = (): Promise<never> => {
      controller.abort(new Error('Left.'));
      return new Promise(() => undefined);
    };
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const running = compact(history, { ...tight, strategy: 'summarize', summarize, signal: controller.signal });
    const rejected = expect(running).rejects.toThrow('Left.');
    await vi.advanceTimersByTimeAsync(5_000);
    await rejected;
  });
});
