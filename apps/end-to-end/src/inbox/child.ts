/** Lives a life of `world.ts` and dies by SIGKILL at one moment of it: `<directory> <number of the moment>`. */
import { live, worldIn } from './world.js';

const [directory = '', last = '0'] = process.argv.slice(2);
let number = 0;
void live(
  worldIn(directory, (_, tear) => {
    number += 1;
    if (number !== Number(last)) return;
    tear?.();
    process.kill(process.pid, 'SIGKILL');
  }),
);
