/** A loop of `check.mjs` in a separate process: measures one round at each message, and answers with microseconds per step. */
import { best, startLoop } from './rounds.mjs';

const { turnsOf } = await startLoop(JSON.parse(process.argv[2] ?? '{}'));
const rounds = new Map();
const measureRound = async ({ steps, deltas }) => {
  const key = `${steps} ${deltas}`;
  const turns = rounds.get(key) ?? (await turnsOf(steps, deltas));
  rounds.set(key, turns);
  process.send((await best(turns.round, 0)) / turns.steps);
};
process.on('message', (figure) => void measureRound(figure));
process.send('ready');
