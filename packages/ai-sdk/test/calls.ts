import { MessageList, type ModelDelta, type ModelDriver, type ModelDriverOutput, type ModelRequest } from '@h/turn';
import { from, lastValueFrom, toArray } from 'rxjs';

/** A request that says "hello"; give what differs. */
export const requestFor = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  system: [],
  messages: MessageList.of([{ role: 'user', content: 'hello' }]),
  tail: [],
  tools: [],
  settings: {},
  ...changes,
});

export const contextFor = (signal: AbortSignal = new AbortController().signal) => ({
  turn: 'turn-1',
  session: 'session-1',
  step: 1,
  attempt: 1,
  signal,
});

/** The signal, and how many listeners it has. */
export const countingListeners = (signal: AbortSignal): { readonly signal: AbortSignal; count(): number } => {
  let listeners = 0;
  const counting = new Proxy(signal, {
    get: (target, name) => {
      if (name === 'addEventListener') listeners += 1;
      if (name === 'removeEventListener') listeners -= 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { signal: counting, count: () => listeners };
};

/** All that a driver says to one request. */
export const outputsOf = (driver: ModelDriver, request: ModelRequest = requestFor()): Promise<ModelDriverOutput[]> =>
  lastValueFrom(from(driver(request, contextFor())).pipe(toArray()));

export const deltasIn = (outputs: readonly ModelDriverOutput[]): ModelDelta[] =>
  outputs.flatMap((output) => (output.type === 'delta' ? output.delta : []));

/** The response in which the outputs end. */
export const responseIn = (outputs: readonly ModelDriverOutput[]) => {
  const last = outputs.at(-1);
  if (last?.type !== 'response') throw new Error(`Expected a response, got ${JSON.stringify(last)}.`);
  return last.response;
};

/** The error in which the outputs end. */
export const errorIn = (outputs: readonly ModelDriverOutput[]) => {
  const last = outputs.at(-1);
  if (last?.type !== 'error') throw new Error(`Expected an error, got ${JSON.stringify(last)}.`);
  return last;
};

/** The text that was streamed, by type of delta. */
export const streamedText = (outputs: readonly ModelDriverOutput[], type: ModelDelta['type'] = 'text'): string =>
  deltasIn(outputs)
    .filter((delta) => delta.type === type)
    .map((delta) => delta.text)
    .join('');

export const weather = {
  name: 'weather',
  description: 'Tells the weather in a town.',
  inputSchema: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
} as const;
