/** Lives a life of `world.ts` and gets a signal at one moment of it, to be killed by it: `<directory> <number of the moment> [<signal>]`. */
import { live, worldIn } from './world.js';

const [directory = '', last = '0', signal = 'SIGKILL'] = process.argv.slice(2);
let number = 0;
void live(
  worldIn(directory, (_, tear) => {
    number += 1;
    if (number !== Number(last)) return;
    tear?.();
    process.kill(process.pid, signal);
  }),
);
