import { deny, intercept } from '@h/turn';
import { call, response } from '@h/turn/testing';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toyFormat } from '../test/toy-host.js';
import { bridge } from './bridge.js';

/** Requests three approvals of each call before it waits for their answers. */
const askingThrice = intercept('asking', ({ emit }) => {
  const held = new Map<string, (decision: string) => void>();
  const ask = (question: string, { id, name, input }: { id: string; name: string; input: unknown }) => {
    emit({ type: 'approval.request', id: `${question} ${id}`, reason: question, call: { id, name, input } });
    return new Promise<string>((resolve) => held.set(`${question} ${id}`, resolve));
  };
  return {
    decide: {
      'tool.call': async (event) => {
        const first = ask('one', event.call);
        await setImmediate();
        const answers = await Promise.all([first, ask('two', event.call), ask('three', event.call)]);
        return answers.includes('deny') ? deny(event, 'No.') : undefined;
      },
    },
    observe: { 'approval.answer': ({ id, decision }) => held.get(id)?.(decision) },
  };
});

describe('several approvals of a call', () => {
  for (const isAlone of [true, false]) {
    it.each([undefined, 'one', 'two', 'three'])(
      `are answered one after the other, ${isAlone ? 'in a separate turn' : 'in the turn of the answer'} (denied: %s)`,
      async (denied) => {
        const asked: string[] = [];
        let runs = 0;
        const session = bridge([askingThrice], { host: 'Toy', format: toyFormat }).session('alice');
        const perform = async () => ({ response: response(call('a', 'go')), value: 1 });
        if (!isAlone) await session.model({ messages: [{ from: 'person', text: 'Go.' }], perform });
        await session.tool({
          id: 'a',
          name: 'go',
          input: {},
          approve: async ({ reason }) => {
            asked.push(reason);
            await setImmediate();
            await setImmediate();
            return reason === denied ? 'deny' : 'once';
          },
          run: async () => {
            runs += 1;
            return { outcome: { status: 'ok', output: { type: 'text', value: 'went' } }, value: 1 };
          },
        });
        expect([asked, runs]).toEqual([['one', 'two', 'three'], denied === undefined ? 1 : 0]);
      },
    );
  }
});
