import { generateText, isStepCount, streamText, tool, ToolLoopAgent, type ToolSet } from 'ai';
import { intercept, type TurnEvent } from '@h/turn';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { doctor, DoctorError, type DoctorAgent, type DoctorProbe } from './doctor.js';
import { attach } from './index.js';

const read = tool({ inputSchema: z.object({ path: z.string() }), execute: ({ path }) => path });
const attached = ({ model, tools, session }: DoctorProbe) =>
  attach<ToolSet>({ model, tools: { read, ...tools }, session });

/** Returns the findings of the doctor about one agent. */
const seen = async (agent: DoctorAgent, timeoutMs?: number): Promise<unknown> => {
  const error: unknown = await doctor({ agent }, { timeoutMs }).catch((thrown: unknown) => thrown);
  return error instanceof DoctorError ? error.findings.map((finding) => finding.seen) : error;
};

describe('doctor of the AI SDK', () => {
  it.each<[string, DoctorAgent]>([
    ['generateText', (probe) => generateText({ ...attached(probe), prompt: 'Check.' })],
    ['streamText', (probe) => streamText({ ...attached(probe), prompt: 'Check.' }).consumeStream()],
    ['ToolLoopAgent', (probe) => new ToolLoopAgent(attached(probe)).generate({ prompt: 'Check.' })],
  ])('passes an agent whose tools are attached: %s', async (_, agent) => {
    expect(await seen(agent)).toBeUndefined();
  });

  it.each<[string, string, DoctorAgent]>([
    [
      'the tools are not attached',
      'failed',
      (probe) => generateText({ ...attached(probe), tools: probe.tools, prompt: 'Check.' }),
    ],
    [
      'a sub-agent has no operators',
      'ran',
      (probe) => generateText({ model: probe.model, tools: probe.tools, stopWhen: isStepCount(3), prompt: 'Check.' }),
    ],
    [
      'the canary is missing',
      'not-denied',
      ({ model }) => generateText({ ...attach({ model, tools: { read } }), prompt: 'Check.' }),
    ],
    ['the model is not used', 'not-denied', () => Promise.resolve('I am fine.')],
    ['the agent throws', 'failed', () => Promise.reject(new RangeError('no key'))],
    [
      'the stream is not read',
      'not-denied',
      (probe) => Promise.resolve(streamText({ ...attached(probe), prompt: 'x' })),
    ],
    ['the agent hangs', 'timed-out', () => new Promise(() => undefined)],
  ])('fails if %s: %s', async (_, finding, agent) => {
    expect(await seen(agent, finding === 'timed-out' ? 10 : undefined)).toEqual([finding]);
  });

  it('names host, path, finding and fix', async () => {
    const error = await doctor({
      coder: (probe) => generateText({ ...attached(probe), prompt: 'Check.' }),
      researcher: ({ model, tools }) => generateText({ model, tools, prompt: 'Check.' }),
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'denial-not-enforced', host: 'the AI SDK' });
    expect(String(error)).toMatch(
      /"researcher": The denied call ran\. Use the `model` and the `tools` that attach\(\)/,
    );
    expect(String(error)).not.toContain('coder');
  });

  it('does not touch other sessions', async () => {
    const events: TurnEvent[] = [];
    const spy = intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } }));
    await doctor({
      agent: ({ model, tools, session }) =>
        generateText({ ...attach({ model, tools: { read, ...tools }, session }, spy), prompt: 'Check.' }),
    });
    const sessions = events.flatMap((event) => (event.type === 'turn.start' ? [event.session] : []));
    expect(sessions).toEqual([expect.stringMatching(/^doctor-/)]);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end' });
  });

  it('rejects options that are not valid', async () => {
    const agents = { coder: () => Promise.resolve() };
    await expect(doctor(agents, { timeout: 1000 } as object)).rejects.toThrow(/unknown option "timeout"/);
    await expect(doctor(agents, { timeoutMs: 0 })).rejects.toThrow(/timeoutMs/);
    await expect(doctor({})).rejects.toThrow(/agents is empty/);
  });
});
