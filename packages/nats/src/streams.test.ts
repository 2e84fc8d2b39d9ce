import { describe, expect, it } from 'vitest';
import { checkReplicas } from './streams.js';

const connectionTo = (version: string) => ({ info: { version } as never });

describe('checkReplicas', () => {
  it.each(['2.9.10', '2.10.22'])('rejects replicas in nats-server %s, which loses messages', (version) => {
    const check = (): void => checkReplicas(connectionTo(version), 'KV_h', 3);
    expect(check).toThrow(`Stream KV_h has 3 replicas in nats-server ${version}`);
    expect(check).toThrow(expect.objectContaining({ code: 'nats-bucket' }));
    expect(() => checkReplicas(connectionTo(version), 'KV_h', 1)).not.toThrow();
  });

  it.each(['2.10.23', '2.10.27', '2.12.1', '3.0.0'])('accepts replicas in nats-server %s', (version) => {
    expect(() => checkReplicas(connectionTo(version), 'KV_h', 3)).not.toThrow();
  });
});
