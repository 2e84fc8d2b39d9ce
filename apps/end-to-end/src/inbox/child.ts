/** Runs `world.ts` and signals itself at one moment: `<directory> <number of the moment> [<signal>]`. */
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
