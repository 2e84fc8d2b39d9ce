/** Runs the turn of `crash-world.ts` and kills its process at one record: `<directory> <record> <after|torn>`. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { encodeRecord } from '@h/turn/records';
import { folderOf } from '../src/files/folder.js';
import { approving, crashWorld, watching } from './crash-world.js';

const [directory = '', at = '', kind = ''] = process.argv.slice(2);
const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
const never = new Promise<never>(() => undefined);
let [begun, stored] = [0, 0];
const world = crashWorld(directory, (store) =>
  watching(store, {
    before: (session, record, earlier) => {
      begun += 1;
      if (kind !== 'torn' || begun < Number(at) || at === '0') return undefined;
      if (begun > Number(at)) return never;
      return earlier.then(() => {
        const { journal } = folderOf(directory, session);
        mkdirSync(dirname(journal), { recursive: true });
        const line = encodeRecord(record);
        appendFileSync(journal, line.slice(0, line.length / 2));
        die();
        return never;
      });
    },
    after: () => {
      stored += 1;
      if (kind === 'after' && stored >= Number(at)) die();
    },
  }),
);
world.agent.turn({ session: 'main', input: 'Go.', id: 'turn-main' }).subscribe(approving(world.agent));
