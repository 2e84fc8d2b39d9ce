import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import { describe, expect, it, vi } from 'vitest';
import { retrying } from './errors.js';

const apiError = (code: number): JetStreamApiError =>
  new JetStreamApiError({ code: 400, err_code: code, description: 'No.' });

describe('retrying', () => {
  it.each([
    ['JetStream is starting', 10_008],
    ['a stream has no leader', 10_009],
    ['not all nodes of a cluster have joined', 10_005],
  ])('repeats a request while %s', async (_, code) => {
    const request = vi.fn<() => Promise<string>>().mockRejectedValueOnce(apiError(code)).mockResolvedValue('Done.');
    expect(await retrying('Opening the bucket', 5_000, request)).toBe('Done.');
    expect(request).toHaveBeenCalledTimes(2);
  });

  // As the client reports what the server answers to a request for messages.
  const status = (message: string, code: number): Error => Object.assign(new JetStreamError(message), { code });

  it.each([
    ['the server has restarted and forgotten the consumer', apiError(10_014)],
    ['the server deletes the consumer', status('consumer deleted', 409)],
    ['another node becomes the leader of the consumer', status('leadership change', 409)],
    ['the server stops', status('server shutdown', 409)],
    ['the server does not know the consumer', status('no responders', 503)],
  ])('reads again if %s', async (_, error) => {
    const request = vi.fn<() => Promise<string>>().mockRejectedValueOnce(error).mockResolvedValue('Done.');
    expect(await retrying('Reading', 5_000, request)).toBe('Done.');
  });

  it('does not repeat a request for messages that the server calls bad', async () => {
    await expect(retrying('Reading', 5_000, () => Promise.reject(status('bad request', 400)))).rejects.toThrow(
      'Reading failed',
    );
  });

  it('repeats a request during which the process was suspended for longer than the limit', async () => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const request = vi.fn<() => Promise<string>>(async () => {
      if (now > 0) return 'Done.';
      now = 60_000;
      throw apiError(10_008);
    });
    expect(await retrying('Writing', 30_000, request)).toBe('Done.');
    clock.mockRestore();
  });

  it('does not repeat a request that began after the limit', async () => {
    const request = vi.fn<() => Promise<string>>().mockRejectedValue(apiError(10_008));
    await expect(retrying('Writing', 0, request)).rejects.toThrow('Writing failed');
    expect(request).toHaveBeenCalledTimes(1);
  });

  it('throws a conflict as it is, and other errors with the action', async () => {
    await expect(retrying('Writing', 5_000, () => Promise.reject(apiError(10_071)))).rejects.toThrow(JetStreamApiError);
    await expect(retrying('Writing', 5_000, () => Promise.reject(apiError(10_003)))).rejects.toThrow('Writing failed');
  });
});
