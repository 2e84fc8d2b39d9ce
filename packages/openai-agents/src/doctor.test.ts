import { Agent, run, setTraceProcessors } from '@openai/agents';
import { describe, expect, it } from 'vitest';
import { attach } from './attach.js';
import { doctor, DoctorError, type DoctorAgent, type DoctorProbe } from './doctor.js';

// Without its exporter, whose timer would run on in the test files that follow.
setTraceProcessors([]);

const agentOf = ({ model, tools }: Pick<DoctorProbe, 'model' | 'tools'>) =>
  new Agent({ name: 'Coder', model, tools: [...tools] });
const seen = async (agent: DoctorAgent, timeoutMs?: number): Promise<unknown> => {
  const error: unknown = await doctor({ agent }, { timeoutMs }).catch((thrown: unknown) => thrown);
  return error instanceof DoctorError ? error.findings.map((finding) => finding.seen) : error;
};

describe('doctor of the OpenAI Agents SDK', () => {
  it.each<[string, DoctorAgent]>([
    ['complete', (probe) => attach({ agent: agentOf(probe), session: probe.session }).run('Check.')],
    [
      'streamed',
      async (probe) => {
        const result = await attach({ agent: agentOf(probe) }).run('Check.', { stream: true });
        await result.completed;
      },
    ],
    [
      'as a tool of another agent',
      (probe) => {
        const inner = agentOf(probe).asTool({ toolName: 'inner', toolDescription: 'Asks.' });
        return attach({ agent: agentOf({ model: probe.model, tools: [inner, ...probe.tools] }) }).run('Check.');
      },
    ],
  ])('passes an attached agent (%s)', async (_, agent) => {
    expect(await seen(agent)).toBeUndefined();
  });

  it.each<[string, DoctorAgent]>([
    ['ran', (probe) => run(agentOf(probe), 'Check.')],
    ['not-denied', ({ model }) => attach({ agent: agentOf({ model, tools: [] }) }).run('Check.')],
    ['failed', () => Promise.reject(new RangeError('no key'))],
    ['timed-out', () => new Promise(() => undefined)],
  ])('fails with the finding %s', async (finding, agent) => {
    expect(await seen(agent, finding === 'timed-out' ? 20 : undefined)).toEqual([finding]);
  });

  it('rejects options that are not valid', async () => {
    const agents = { coder: () => Promise.resolve() };
    await expect(doctor(agents, { timeout: 1000 } as object)).rejects.toThrow(/unknown option "timeout"/);
    await expect(doctor(agents, { timeoutMs: 0 })).rejects.toThrow(/timeoutMs/);
    await expect(doctor({})).rejects.toThrow(/agents is empty/);
  });
});
