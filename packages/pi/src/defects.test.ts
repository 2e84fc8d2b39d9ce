// oxlint-disable-next-line h/package-imports -- the defect of pi is tested with the operator that ends it
import { loopDetect } from '@h/loop-detect';
import type { PipelineOperator } from '@h/turn';
import { Agent, type AgentTool, type StreamFn } from '@earendil-works/pi-agent-core';
import { createFauxCore, fauxAssistantMessage, fauxToolCall, Type, type FauxResponseStep } from '@earendil-works/pi-ai';
import { describe, expect, it } from 'vitest';
import { attach } from './attach.js';

const steps = 100;

const loops: readonly (readonly [string, (step: number) => { readonly path: string }])[] = [
  ['identical calls', () => ({ path: 'a.txt' })],
  ['calls that alternate between two files', (step) => ({ path: step % 2 === 0 ? 'a.txt' : 'b.txt' })],
];

/** Runs an agent whose model never stops by itself, and returns the number of its model calls and its last message. */
const run = async (input: (typeof loops)[number][1], operators: readonly PipelineOperator[] | undefined) => {
  const faux = createFauxCore({});
  const answers = Array.from({ length: steps }, (_, step): FauxResponseStep =>
    fauxAssistantMessage([fauxToolCall('read', input(step), { id: `call-${step}` })], { stopReason: 'toolUse' }),
  );
  faux.setResponses([...answers, fauxAssistantMessage('The script has ended.')]);
  const read: AgentTool = {
    name: 'read',
    label: 'read',
    description: 'Reads a file.',
    parameters: Type.Object({ path: Type.String() }),
    execute: async () => ({ content: [{ type: 'text', text: 'The same text.' }], details: undefined }),
  };
  const outcomes: string[] = [];
  const streamFn = faux.streamSimple as StreamFn;
  const attached =
    operators &&
    attach({ streamFn, tools: [read], onStop: ({ outcome }) => void outcomes.push(outcome) }, ...operators);
  const agent = new Agent({
    streamFn,
    ...attached,
    initialState: { model: faux.getModel(), tools: attached?.tools ?? [read] },
  });
  await agent.prompt('Read the file.');
  return { calls: faux.state.callCount, outcomes };
};

describe.each(loops)('a loop of %s in pi', (_, input) => {
  it('continues without an end if no operator stops it', async () => {
    expect(await run(input, undefined)).toEqual({ calls: steps + 1, outcomes: [] });
    expect(await run(input, [])).toEqual({ calls: steps + 1, outcomes: [] });
  });

  it('is ended by loopDetect()', async () => {
    const { calls, outcomes } = await run(input, [loopDetect()]);
    expect(calls).toBeLessThan(20);
    expect(outcomes).toEqual(['loop-detected']);
  });
});
