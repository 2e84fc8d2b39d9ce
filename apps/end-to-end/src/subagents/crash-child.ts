/** Runs `crash-world.ts` and kills itself with SIGKILL at one moment: `<directory> <number or name of the moment>`. */
import { bossTurn, crashWorld } from './crash-world.js';

const [directory = '', last = '0'] = process.argv.slice(2);
let number = 0;
const { agent, team, store } = crashWorld(directory, (name, tear) => {
  number += 1;
  if (String(number) !== last && name !== last) return;
  tear?.();
  process.stderr.write(name);
  process.kill(process.pid, 'SIGKILL');
});
agent.turn({ session: 'boss', input: 'Go', id: bossTurn }).subscribe({
  complete: () => {
    void team
      .close()
      .then(() => store.close())
      .then(() => process.stderr.write(String(number)));
  },
});
