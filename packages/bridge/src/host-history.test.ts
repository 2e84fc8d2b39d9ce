import { response } from '@h/turn/testing';
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
