import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnError } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/folders.js';
import { removeLeftOvers, replaceByCopy, replaceFile } from './write-file.js';

const taken = new TurnError('session-taken', 'Somebody else has it.');

describe('replacing a file', () => {
  it('leaves to later holders what they are about to put in place, and takes from earlier ones what they were', async () => {
    const folder = await temporaryFolder();
    const others = ['journal.jsonl', 'head.json', 'journal.jsonl.torn-1', 'notes.new.txt'];
    const later = ['journal.jsonl.3.a-b-c.new', 'head.json.12.a-b-c.new'];
    const earlier = ['journal.jsonl.2.a-b-c.new', 'head.json.1.a-b-c.new', 'snapshot.jsonl.a-b-c.new'];
    for (const name of [...others, ...later, ...earlier]) await writeFile(join(folder, name), name);
    await removeLeftOvers(folder, 3);
    expect((await readdir(folder)).toSorted()).toEqual([...others, ...later].toSorted());
  });

  it('fails for one whose file somebody has taken away, and says that the session was taken', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'journal.jsonl');
    await writeFile(path, 'old');
    let looks = 0;
    const lock = {
      generation: 1,
      verify: async () => {
        looks += 1;
        if (looks % 2 === 0) throw taken;
        // The last look goes well, and then comes the next holder.
        await removeLeftOvers(folder, 2);
      },
    };
    await expect(replaceFile(path, ['new'], { isSynced: true, lock })).rejects.toBe(taken);
    await expect(replaceByCopy(path, lock)).rejects.toBe(taken);
    expect(await readdir(folder)).toEqual(['journal.jsonl']);
  });

  it('says what is wrong with the disk where the session is still its own', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'journal.jsonl');
    await mkdir(path);
    const lock = { generation: 1, verify: () => Promise.resolve() };
    await expect(replaceFile(path, ['new'], { isSynced: false, lock })).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await readdir(folder)).toEqual(['journal.jsonl']);
  });
});
