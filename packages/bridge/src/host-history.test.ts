import { call, response } from '@h/turn/testing';
import { expect, it } from 'vitest';
import { toyFormat, type ToyMessage } from '../test/toy-host.js';
import { bridge } from './index.js';

it('reads only the last messages if the host creates equal ones for each request', async () => {
  let reads = 0;
  const format: typeof toyFormat = {
    ...toyFormat,
    read: (message) => {
      reads += 1;
      return toyFormat.read(message);
    },
  };
  const session = bridge<ToyMessage>([], { host: 'Toy', format }).session('alice');
  const history: ToyMessage[] = Array.from({ length: 100 }, (_, index) => ({ from: 'person', text: `Line ${index}` }));
  const run = {};
  const ask = async (): Promise<void> => {
    reads = 0;
    await session.model({
      messages: structuredClone(history),
      run,
      perform: () => Promise.resolve({ response: response('Noted.'), value: undefined }),
    });
  };
  await ask();
  history.push({ from: 'model', parts: [{ type: 'text', text: 'Noted.' }] }, { from: 'person', text: 'And?' });
  await ask();
  expect(reads).toBeLessThan(10);
});

it.each([
  ['both results', ['one', 'two']],
  ['the first result', ['one']],
  ['the second result', ['two']],
])('sends a result for each call if the host continues with %s', async (_, kept) => {
  const session = bridge<ToyMessage>([], { host: 'Toy', format: toyFormat }).session('alice');
  const calls = [call('one'), call('two')];
  const history: ToyMessage[] = [{ from: 'person', text: 'Look.' }];
  const run = {};
  const sent: (readonly ToyMessage[])[] = [];
  const ask = (answer: ReturnType<typeof response>) =>
    session.model({
      messages: history,
      run,
      perform: ({ messages }) => {
        sent.push(messages);
        return Promise.resolve({ response: answer, value: undefined });
      },
    });
  const { response: first } = await ask(response(...calls));
  const output = { type: 'text', value: 'Seen.' } as const;
  const skipped = { status: 'skipped', reason: 'Left.', output: { type: 'error-text', value: 'Left.' } } as const;
  await Promise.all(
    calls.map(({ toolCallId: id, toolName: name, input }) =>
      session.tool({
        id,
        name,
        input,
        run: async () => ({ outcome: kept.includes(id) ? { status: 'ok', output } : skipped, value: undefined }),
      }),
    ),
  );
  const results: ToyMessage[] = kept.map((id) => ({ from: 'tool', id, name: 'read', output }));
  history.push({ from: 'model', parts: first.content }, ...results);
  await ask(response('Noted.'));
  const repaired = sent[1] ?? [];
  expect(repaired.flatMap((message) => (message.from === 'tool' ? [message.id] : [])).toSorted()).toEqual([
    'one',
    'two',
  ]);
  expect(repaired.slice(0, history.length).every((message, index) => message === history[index])).toBe(true);
  history.push({ from: 'model', parts: [{ type: 'text', text: 'Noted.' }] }, { from: 'person', text: 'And?' });
  await ask(response('Done.'));
  expect(sent[2]?.slice(0, repaired.length)).toEqual(repaired);
});
