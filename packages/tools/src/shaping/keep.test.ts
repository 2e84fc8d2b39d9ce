import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryArtifacts } from '../artifacts/memory-artifacts.js';
import { keep } from './keep.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('keep', () => {
  it('continues without storing if redact() does not settle', async () => {
    const store = memoryArtifacts();
    const put = vi.spyOn(store, 'put');
    const kept = keep([{ kind: 'text', text: 'a long text' }], true, 4, {
      store,
      redact: () => new Promise<string>(() => undefined),
      session: 's',
      external: false,
    });
    await vi.advanceTimersByTimeAsync(30_000);
    const { error, text } = await kept;
    expect(error?.message).toContain('did not settle within 30000 ms');
    expect(text).toBeUndefined();
    expect(put).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('continues without an artifact if the store does not settle', async () => {
    const put = (): Promise<never> => new Promise(() => undefined);
    const kept = keep([{ kind: 'text', text: 'a long text' }], true, 4, {
      store: { ...memoryArtifacts(), put },
      redact: (text) => text,
      session: 's',
      external: false,
    });
    await vi.advanceTimersByTimeAsync(120_000);
    expect((await kept).error?.message).toContain('did not settle within 120000 ms');
    expect((await kept).text).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});
