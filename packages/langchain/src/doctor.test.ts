import { intercept, type TurnEvent } from '@h/turn';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent, createMiddleware, tool } from 'langchain';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { doctor, DoctorError } from './doctor.js';
import { asMiddleware } from './index.js';

const model = new FakeListChatModel({ responses: ['Hello.'] });
const read = tool(() => 'text', { name: 'read', description: 'Reads.', schema: z.object({ path: z.string() }) });

const seen = async (given: Parameters<typeof doctor>[0], timeoutMs?: number): Promise<unknown> => {
  const error: unknown = await doctor(given, { timeoutMs }).catch((thrown: unknown) => thrown);
  return error instanceof DoctorError ? error.findings.map(({ path, seen: what }) => `${path} ${what}`) : error;
};

describe('doctor of LangChain', () => {
  it('passes an agent with the middleware, and leaves no trace in its threads', async () => {
    const events: TurnEvent[] = [];
    const spy = intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } }));
    const checkpointer = new MemorySaver();
    const agent = createAgent({ model, tools: [read], middleware: [asMiddleware(spy)], checkpointer });
    expect(await seen(agent)).toBeUndefined();
    expect(checkpointer.storage).toEqual({});
    expect(events.filter(({ type }) => type === 'tool.result')).toMatchObject([{ status: 'denied' }]);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end' });
  });

  it('fails for a sub-agent without the middleware, and names it', async () => {
    const coder = createAgent({ model, tools: [read], middleware: [asMiddleware()] });
    const researcher = createAgent({ model, tools: [read] });
    expect(await seen({ coder, researcher })).toEqual(['researcher ran']);
  });

  it('fails if another middleware runs tools past the operators', async () => {
    const skipping = createMiddleware({
      name: 'skipping',
      wrapToolCall: async ({ tool: wanted, toolCall }) => (wanted as unknown as typeof read).invoke(toolCall as never),
    });
    expect(await seen(createAgent({ model, tools: [read], middleware: [skipping, asMiddleware()] }))).toEqual([
      'agent ran',
    ]);
  });

  it('fails if a middleware throws or hangs', async () => {
    const failing = createMiddleware({
      name: 'failing',
      wrapModelCall: () => {
        throw new RangeError('no key');
      },
    });
    const hanging = createMiddleware({ name: 'hanging', wrapModelCall: () => new Promise(() => undefined) });
    expect(await seen(createAgent({ model, tools: [read], middleware: [failing, asMiddleware()] }))).toEqual([
      'agent failed',
    ]);
    expect(await seen(createAgent({ model, tools: [read], middleware: [hanging, asMiddleware()] }), 20)).toEqual([
      'agent timed-out',
    ]);
  });

  it('rejects options that are not valid', async () => {
    const agent = createAgent({ model, tools: [read] });
    await expect(doctor(agent, { timeout: 1000 } as object)).rejects.toThrow(/unknown option "timeout"/);
    await expect(doctor(agent, { timeoutMs: 0 })).rejects.toThrow(/timeoutMs/);
    await expect(doctor({})).rejects.toThrow(/agents is empty/);
    await expect(doctor(undefined as never)).rejects.toThrow(/"agents" is required/);
  });
});
