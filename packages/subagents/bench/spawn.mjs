/**
 * What a sub-agent costs besides its own turn: spawned by the tool and delivered, next to the same turn run by hand.
 *
 *   node bench/spawn.mjs        (after a build)
 */
import { harness, reply } from '@h/turn';
import { subagents } from '@h/subagents';

const response = {
  content: [{ type: 'text', text: 'Done.' }],
  finishReason: 'stop',
  usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 },
};
const model = () => [{ type: 'response', response }];
const child = (guard) => harness({ model }).pipe(...(guard ? [guard] : []));

const team = subagents({ agents: { worker: { description: 'Works.', create: ({ guard }) => child(guard) } } });

/** Microseconds of CPU, which others on the machine cannot lengthen. */
const time = async (count, work) => {
  const before = process.cpuUsage();
  for (let index = 0; index < count; index += 1) await work(index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
};

const byHand = (index) => reply(child().turn({ session: `hand-${index}`, input: 'Go.' }));
const spawned = async (index) => (await team.spawn({ parent: `boss-${index}`, agent: 'worker', task: 'Go.' })).ended;
const twenty = async (index) => {
  const all = await Promise.all(
    Array.from({ length: 20 }, () => team.spawn({ parent: `many-${index}`, agent: 'worker', task: 'Go.' })),
  );
  await Promise.all(all.map(({ ended }) => ended));
};

for (const work of [byHand, spawned]) await time(2000, work);
const rows = {
  'a turn by hand': await time(5000, byHand),
  'a sub-agent': await time(5000, spawned),
  'a sub-agent of twenty': (await time(250, twenty)) / 20,
};
for (const [name, cost] of Object.entries(rows)) console.log(name.padEnd(24), `${cost.toFixed(0)} µs`.padStart(10));
console.log(
  'a spawn itself'.padEnd(24),
  `${(rows['a sub-agent'] - rows['a turn by hand']).toFixed(0)} µs`.padStart(10),
);
process.exit(0);
