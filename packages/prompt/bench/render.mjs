/**
 * What `prompt()` adds to a request: ten stable sections of 20,000 characters together, thirty tools, and volatile
 * sections that change or do not.
 *
 *   node bench/render.mjs        (after a build)
 */
import { MessageList } from '@h/turn';
import { prompt, PromptMemo } from '@h/prompt';
import { Subject } from 'rxjs';

const paragraph =
  'Prefer small functions, name things by what they mean, and run the tests before you say that you are done. ';
const sections = (name, count) =>
  Array.from({ length: count }, (_, index) => ({ id: `${name}-${index}`, text: paragraph.repeat(19) }));
const tools = Array.from({ length: 30 }, (_, index) => ({
  name: `tool_${String(index).padStart(2, '0')}`,
  description: paragraph,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
}));
const messages = MessageList.of(
  Array.from({ length: 1000 }, (_, index) => ({ role: 'user', content: `Message ${index}` })),
);
const request = (step) => ({
  type: 'model.request',
  turn: 't',
  at: step,
  step,
  attempt: 1,
  system: [],
  messages,
  tail: [],
  tools,
  settings: {},
});

const stable = { frozen: sections('frozen', 5), session: sections('session', 5) };
const remembered = paragraph.repeat(10);
const memory = { id: 'memory', text: () => remembered };
const clock = { id: 'time', text: ({ at }) => `It is ${at}.` };

/** CPU microseconds a call, the best of several rounds. */
const perCall = (work, calls) => {
  const rounds = [];
  for (let round = 0; round < 12; round += 1) {
    const start = process.cpuUsage();
    work(calls);
    const { user, system } = process.cpuUsage(start);
    rounds.push((user + system) / calls);
  }
  return Math.min(...rounds);
};

const requests = (options) => (calls) => {
  const source = new Subject();
  let seen = 0;
  const subscription = source.pipe(prompt(options)).subscribe(() => (seen += 1));
  for (let step = 1; step <= calls; step += 1) source.next(request(step));
  subscription.unsubscribe();
  if (seen !== calls) throw new Error(`${seen} of ${calls} requests came through`);
};

const turns = (options) => (calls) => {
  const operator = prompt(options);
  for (let turn = 0; turn < calls; turn += 1) {
    const source = new Subject();
    const subscription = source.pipe(operator).subscribe();
    source.next(request(1));
    subscription.unsubscribe();
  }
};

const renders = (cache) => (calls) => {
  for (let call = 0; call < calls; call += 1) cache.render(stable.frozen);
};
const coldRenders = (calls) => {
  for (let call = 0; call < calls; call += 1) new PromptMemo().render(stable.frozen);
};
/** The same texts as new strings, as they come from files that were read again. */
const copied = (calls) => {
  const cache = new PromptMemo();
  for (let call = 0; call < calls; call += 1) {
    cache.render(stable.frozen.map(({ id, text }) => ({ id, text: Buffer.from(text).toString() })));
  }
};

const print = (label, micros) => console.log(label.padEnd(58), `${micros.toFixed(2)} µs`.padStart(12));
console.log(`Node ${process.version}\n`);
print('a cached render of 5 sections, 10,000 characters', perCall(renders(new PromptMemo()), 200_000));
print('  the same from new copies of the strings', perCall(copied, 20_000));
print('  the first time', perCall(coldRenders, 500));
print('a request, nothing volatile', perCall(requests(stable), 50_000));
print('a request, volatile sections as before', perCall(requests({ ...stable, volatile: [memory] }), 50_000));
print('a request, a clock that has changed', perCall(requests({ ...stable, volatile: [memory, clock] }), 20_000));
print('the first request of a turn', perCall(turns(stable), 20_000));
