import { createCredentialPool, failover } from '@h/failover';
import { isNotice, memorySink, observe } from '@h/observe';
import { harness, reply } from '@h/turn';
import { failure, scriptedModel } from '@h/turn/testing';
import { expect, it } from 'vitest';

const keys = ['test-key-of-alpha-one', 'test-key-of-alpha-two'];

it('logs a change of the credential with its id, the reason and the cooldown, and never the key', async () => {
  const pool = createCredentialPool({
    profiles: keys.map((key, index) => ({ id: `a${index + 1}`, provider: 'alpha', key })),
  });
  const sink = memorySink();
  const limited = failure(`429 for ${keys[0]}`, { status: 429, headers: { 'retry-after': '30' } });
  const model = scriptedModel([{ error: limited }, 'Hello.']);
  const agent = harness({ model }).pipe(failover({ pool, models: ['alpha/one'] }), observe({ sinks: [sink] }));
  expect((await reply(agent.turn({ session: 'alice', input: 'Hi' }))).outcome).toBe('completed');
  const from = { model: 'alpha/one', credential: 'a1' };
  expect(sink.observations().filter(isNotice)).toMatchObject([
    { type: 'failover.cooling', data: { reason: 'rate-limit', from, until: expect.any(Number) as number } },
    { type: 'failover.switched', data: { reason: 'rate-limit', from, to: { credential: 'a2' } } },
  ]);
  for (const key of keys) expect(JSON.stringify(sink.observations())).not.toContain(key);
});
