import { Agent } from '@earendil-works/pi-agent-core';
import { describe, expect, it } from 'vitest';
import { attach } from './attach.js';
import { doctor, DoctorError, type DoctorAgent } from './doctor.js';

const seen = async (agent: DoctorAgent, timeoutMs?: number): Promise<unknown> => {
  const error: unknown = await doctor({ agent }, { timeoutMs }).catch((thrown: unknown) => thrown);
  return error instanceof DoctorError ? error.findings.map((finding) => finding.seen) : error;
};

describe('doctor of pi', () => {
  it('passes an agent whose model and tools are attached', async () => {
    const agent: DoctorAgent = ({ streamFn, tools, session, model }) => {
      const attached = attach({ streamFn, tools, session });
      return new Agent({ ...attached, initialState: { model, tools: attached.tools } }).prompt('Check.');
    };
    expect(await seen(agent)).toBeUndefined();
  });

  it.each<[string, string, DoctorAgent]>([
    [
      'ran',
      'the tools are not attached',
      ({ streamFn, tools, session, model }) =>
        new Agent({ ...attach({ streamFn, session }), initialState: { model, tools: [...tools] } }).prompt('Check.'),
    ],
    [
      'not-denied',
      'the canary is missing',
      ({ streamFn, session, model }) =>
        new Agent({ ...attach({ streamFn, session }), initialState: { model, tools: [] } }).prompt('Check.'),
    ],
    ['failed', 'the agent throws', () => Promise.reject(new RangeError('no key'))],
    ['timed-out', 'the agent hangs', () => new Promise(() => undefined)],
  ])('fails with the finding %s if %s', async (finding, _, agent) => {
    expect(await seen(agent, finding === 'timed-out' ? 20 : undefined)).toEqual([finding]);
  });

  it('rejects options that are not valid', async () => {
    const agents = { coder: () => Promise.resolve() };
    await expect(doctor(agents, { timeout: 1000 } as object)).rejects.toThrow(/unknown option "timeout"/);
    await expect(doctor(agents, { timeoutMs: 0 })).rejects.toThrow(/timeoutMs/);
    await expect(doctor({})).rejects.toThrow(/agents is empty/);
  });
});
