import { describe, expect, it } from 'vitest';
import { callProgress } from './call-progress.js';

/** A client that reads a notification when `read` is called. */
const slowClient = () => {
  const sent: object[] = [];
  const waiting: (() => void)[] = [];
  const notify = ({ params }: { readonly params?: object | undefined }): Promise<void> => {
    sent.push({ ...params });
    return new Promise((resolve) => void waiting.push(resolve));
  };
  const read = async (): Promise<void> => {
    waiting.shift()?.();
    await new Promise((resolve) => void setImmediate(resolve));
  };
  return { sent, notify, read };
};

const asIs = <Value>(value: Value): Value => value;

describe('callProgress', () => {
  it('sends the first and the latest progress while the client does not read, and redacts only those', async () => {
    const { sent, notify, read } = slowClient();
    const redacted: unknown[] = [];
    const progress = callProgress({ progressToken: 't' }, notify, (value) => {
      redacted.push(value);
      return { message: 'redacted' };
    });
    for (let count = 1; count <= 20_000; count += 1) progress?.report({ progress: count, total: 9, message: 'secret' });
    expect(sent).toEqual([{ progressToken: 't', progress: 1, message: 'redacted' }]);
    await read();
    expect(sent.slice(1)).toEqual([{ progressToken: 't', progress: 20_000, message: 'redacted' }]);
    expect(redacted).toHaveLength(2);
  });

  it('sends the latest progress at the end, and nothing afterwards', async () => {
    const { sent, notify, read } = slowClient();
    const progress = callProgress({ progressToken: 0 }, notify, asIs);
    for (const value of [1, 2, 3]) progress?.report({ progress: value });
    progress?.end();
    expect(sent).toEqual([1, 3].map((value) => ({ progressToken: 0, progress: value })));
    progress?.report({ progress: 4 });
    await read();
    await read();
    expect(sent).toHaveLength(2);
  });

  it('counts reports without a number', () => {
    const { sent, notify } = slowClient();
    const progress = callProgress({ progressToken: 1 }, notify, asIs);
    for (const message of ['working', 'still working']) progress?.report({ message });
    progress?.end();
    expect(sent).toEqual([
      { progressToken: 1, progress: 1, message: 'working' },
      { progressToken: 1, progress: 2, message: 'still working' },
    ]);
  });

  it('continues after a failure, and sends nothing without a token', async () => {
    const { sent, notify, read } = slowClient();
    const failing = callProgress({ progressToken: 1 }, () => Promise.reject(new Error('left')), asIs);
    failing?.report({ progress: 1 });
    await read();
    failing?.report({ progress: 2 });
    for (const meta of [undefined, {}, { progressToken: null }, { progressToken: {} }]) {
      expect(callProgress(meta, notify, asIs)).toBeUndefined();
    }
    expect(sent).toEqual([]);
  });
});
