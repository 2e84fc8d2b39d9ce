/** Runs the turn of `crash-world.ts` and dies by SIGKILL at one record: `<directory> <record> <after|torn>`. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { encodeRecord } from '@h/turn';
import { folderOf } from '../src/files/folder.js';
import { approving, crashWorld, watching } from './crash-world.js';

const [directory = '', at = '', kind = ''] = process.argv.slice(2);
let count = 0;
const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
const world = crashWorld(directory, (store) =>
  watching(store, {
    before: (session, record) => {
      count += 1;
      if (kind !== 'torn' || count !== Number(at)) return;
      const { journal } = folderOf(directory, session);
      mkdirSync(dirname(journal), { recursive: true });
      const line = encodeRecord(record);
      appendFileSync(journal, line.slice(0, line.length / 2));
      die();
    },
    after: () => {
      if (kind === 'after' && count >= Number(at)) die();
    },
  }),
);
world.agent.turn({ session: 'main', input: 'Go.', id: 'turn-main' }).subscribe(approving(world.agent));
