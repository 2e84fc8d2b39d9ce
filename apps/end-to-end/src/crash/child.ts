/** Runs the turn of `world.ts` and kills itself with SIGKILL at one moment: `<directory> <number of the moment>`. */
import { runTurn, worldIn } from './world.js';

const [directory = '', last = '0'] = process.argv.slice(2);
let number = 0;
void runTurn(
  worldIn(directory, (_, tear) => {
    number += 1;
    if (number !== Number(last)) return;
    tear?.();
    process.kill(process.pid, 'SIGKILL');
  }),
);
