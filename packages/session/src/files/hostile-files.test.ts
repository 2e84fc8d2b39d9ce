import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { harness, repairHistory, reply, type TurnEvent } from '@h/turn';
import { call, event, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { fileSessions, SessionHeldError } from '../index.js';
import { inSession, journalOf, messagesOf, openTurn, stateOf, wholeTurn, write } from '../testing/records.js';
import { fileHandles, place, turns } from '../../test/place.js';
import { folderOf } from './folder.js';
import { emptyHead, encodeHead, readHead } from './head.js';

describe('a session after a power failure', () => {
  it('removes zeros at the end of the journal', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one', 'two');
    const whole = await readFile(files.journal);
    await appendFile(files.journal, Buffer.alloc(5000));
    expect(await store.messages('alice')).toEqual(['one', 'two'].flatMap(messagesOf));
    await turns(store, 'three');
    expect(problems).toMatchObject([{ kind: 'torn-record', bytes: 5000 }]);
    expect((await readFile(files.journal)).subarray(0, whole.length)).toEqual(whole);
    expect(await store.messages('alice')).toEqual(['one', 'two', 'three'].flatMap(messagesOf));
  });

  it('exists: the folders of a new session are synced once, with its first record', async () => {
    const directory = temporaryFolder();
    const sync = vi.spyOn(await fileHandles(), 'sync');
    onTestFinished(() => sync.mockRestore());
    const times = async (fsync: 'record' | 'never', turn: string): Promise<number> => {
      const open = await fileSessions({ directory: join(directory, fsync), fsync }).open('any');
      const before = sync.mock.calls.length;
      await write(open, wholeTurn(turn, 'one'));
      const written = sync.mock.calls.length - before;
      await open.close();
      return written;
    };
    expect([await times('record', 'a'), await times('record', 'b'), await times('never', 'a')]).toEqual([2, 0, 0]);
  });

  it('has no temporary files of interrupted replacements', async () => {
    const { store, files } = await place();
    await turns(store, 'one');
    const [token = ''] = await readdir(join(files.path, 'lock.1'));
    await writeFile(join(files.path, 'lock.1', token, 'staged'), 'half');
    await turns(store, 'two');
    expect((await readdir(files.path)).toSorted()).toEqual(['head.json', 'journal.jsonl', 'lock.2']);
  });

  it('completes its deletion at the next start, and can be deleted again', async () => {
    const { store, directory, files } = await place();
    await turns(store, 'one');
    // The process was killed after it had deleted the session and before it removed the files.
    await writeFile(files.head, encodeHead({ ...emptyHead('alice'), isDeleted: true }));
    expect([await store.list(), await store.messages('alice')]).toEqual([[], []]);
    expect(await store.unfinished()).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
    for (const text of ['two', 'three']) {
      await turns(store, text);
      await store.delete('alice');
    }
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('the summary for lists', () => {
  it('is ignored if it ends within a record', async () => {
    const { store, files } = await place();
    await turns(store, 'one', 'two');
    const right = await store.list();
    const head = await readHead(files);
    await writeFile(files.head, encodeHead({ ...emptyHead('alice'), ...head, size: (head?.size ?? 0) - 7, turns: 99 }));
    expect(await store.list()).toEqual(right);
  });

  it('does not prevent the end of a turn if it cannot be written', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one');
    const open = await store.open('alice');
    await write(open, wholeTurn('turn-2', 'two'));
    // A file cannot be renamed over a folder.
    await rm(files.head);
    await mkdir(files.head);
    await open.close();
    expect(await store.messages('alice')).toEqual(['one', 'two'].flatMap(messagesOf));
    expect((await readdir(files.path)).filter((name) => name.endsWith('.new'))).toEqual([]);
    expect([await store.list(), problems.map(({ kind }) => kind)]).toEqual([[], ['unreadable']]);
  });
});

describe('a writer that lost its session while it was idle', () => {
  it('replaces no file when it closes the session', async () => {
    const { store, files } = await place();
    await turns(store, 'one');
    const before = await readFile(files.head, 'utf8');
    const late = await store.open('alice');
    await write(late, wholeTurn('turn-2', 'two'));
    await rm(join(files.path, 'lock.2'), { recursive: true });
    await mkdir(join(files.path, 'lock.3/token'), { recursive: true });
    const owner = JSON.stringify({ host: 'elsewhere', pid: 1, leaseMs: 60_000 });
    await writeFile(join(files.path, 'lock.3/token/owner'), owner);
    await late.close();
    expect(await readFile(files.head, 'utf8')).toBe(before);
    expect((await readdir(files.path)).filter((name) => name.endsWith('.new'))).toEqual([]);
  });
});

describe('sessions in one directory', () => {
  it('are listed even if one cannot be read, which is reported', async () => {
    const { store, directory, files, problems } = await place();
    await turns(store, 'one');
    const broken = folderOf(directory, 'broken').path;
    await writeFile(broken, 'a file where a folder should be');
    expect((await store.list()).map(({ session }) => session)).toEqual(['alice']);
    expect(await store.unfinished()).toEqual([]);
    expect(await store.locate('turn-one')).toBe('alice');
    expect(problems[0]).toMatchObject({
      kind: 'unreadable',
      path: broken,
      backup: undefined,
      message: expect.stringContaining('ENOTDIR') as string,
    });
    expect(await readFile(broken, 'utf8')).toContain('a file');
    expect((await stat(files.path)).isDirectory()).toBe(true);
  });

  it('are not searched again for a turn that unfinished() returned', async () => {
    const { store, directory, problems } = await place();
    await inSession(store, 'alice', (open) => write(open, openTurn('turn-1', 'one')));
    expect(await store.unfinished()).toMatchObject([{ turn: 'turn-1' }]);
    await writeFile(folderOf(directory, 'broken').path, 'a file where a folder should be');
    expect([await store.locate('turn-1'), problems]).toEqual(['alice', []]);
    await inSession(store, 'alice', (open) => write(open, wholeTurn('turn-2', 'two')));
    expect(await store.locate('turn-1')).toBeUndefined();
    expect(problems).toHaveLength(1);
  });

  it('are found through a link to the directory, and after a chdir()', async () => {
    const { store, directory } = await place();
    await turns(store, 'one');
    const link = join(temporaryFolder(), 'link');
    await symlink(directory, link);
    const linked = fileSessions({ directory: link, fsync: 'never' });
    expect(await linked.messages('alice')).toEqual(messagesOf('one'));
    const open = await linked.open('alice');
    await expect(store.open('alice')).rejects.toBeInstanceOf(SessionHeldError);
    await open.close();
    const before = process.cwd();
    const here = fileSessions({ directory: relative(before, directory), fsync: 'never' });
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue('/');
    onTestFinished(() => cwd.mockRestore());
    expect(await here.messages('alice')).toEqual(messagesOf('one'));
  });

  it('are complete or absent if they are opened and deleted concurrently', async () => {
    const { store, directory } = await place();
    for (let round = 0; round < 15; round += 1) {
      const opening = async (): Promise<void> => (await store.open('alice')).close();
      const outcomes = await Promise.allSettled([
        opening(),
        store.delete('alice'),
        opening(),
        store.delete('alice'),
        opening(),
      ]);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(SessionHeldError);
      }
    }
    await store.delete('alice');
    expect(await readdir(directory)).toEqual([]);
  });

  it('are readable by their owner only, whatever the umask is', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const { store, files, problems } = await place();
    await turns(store, 'a'.repeat(700_000), 'b', 'c');
    await appendFile(files.journal, 'torn');
    const open = await store.open('alice');
    expect(problems.map(({ kind }) => kind)).toEqual(['torn-record']);
    const names = await readdir(files.path, { recursive: true });
    expect(names).toEqual(
      expect.arrayContaining([
        'journal.jsonl',
        'snapshot.jsonl',
        'head.json',
        'journal.jsonl.torn-1',
        'lock.4',
        expect.stringMatching(/^lock\.4.[0-9a-f-]+.owner$/),
      ]),
    );
    for (const name of ['', ...names]) {
      expect(((await stat(join(files.path, name))).mode & 0o77).toString(8), name).toBe('0');
    }
    await open.close();
    await chmod(files.path, 0o700);
  });
});

describe('large records', () => {
  it('of 50 MB are stored, loaded and written to a snapshot', async () => {
    const { store, files } = await place();
    const huge = `${'x'.repeat(50_000_000)}ä`;
    const answer = event(
      'history.append',
      { origin: 'work', messages: [{ role: 'assistant', content: huge }] },
      { turn: 'turn-1' },
    );
    await inSession(store, 'alice', (open) => write(open, [...openTurn('turn-1', 'one'), answer]));
    await turns(store, 'two', 'three');
    await inSession(store, 'alice', ({ journal }) => expect(journal).toHaveLength(7));
    expect((await stat(files.snapshot)).size).toBeGreaterThan(50_000_000);
    expect((await store.messages('alice'))[2]?.content === huge).toBe(true);
    expect(await store.list()).toMatchObject([{ turns: 3 }]);
  });

  it('are written in several chunks if they arrive together', async () => {
    const { store } = await place();
    const note = (value: string): TurnEvent => event('session.state', { key: 'k', value }, { turn: 'turn-1' });
    const given = [
      ...openTurn('turn-1', 'one'),
      ...Array.from({ length: 8 }, (_, index) => note(`${index}${'x'.repeat(5_000_000)}`)),
    ];
    const appendFile = vi.spyOn(await fileHandles(), 'appendFile');
    onTestFinished(() => appendFile.mockRestore());
    await inSession(store, 'alice', (open) =>
      Promise.all(given.map(async (each, seq) => open.append({ v: 1, seq, event: each, derived: false }))),
    );
    const pieces = appendFile.mock.calls.map(([text]) => (text as string).length);
    expect([pieces.length >= 3, Math.max(...pieces) < 25_000_000]).toEqual([true, true]);
    const journal = await journalOf(store, 'alice');
    expect(
      journal
        .map(({ event: each }) => (each.type === 'session.state' ? JSON.stringify(each.value).slice(1, 2) : ''))
        .join(''),
    ).toBe('o01234567');
  });

  it('have separate lines in a snapshot, so that no line exceeds the maximum string length', async () => {
    const { store, files } = await place();
    const picture = { type: 'file', data: 'A'.repeat(200_000), mediaType: 'image/png' } as const;
    await inSession(store, 'alice', async (open) => {
      const messages = Array.from({ length: 20 }, () => ({ role: 'user', content: [picture] }) as const);
      await write(open, [
        ...wholeTurn('turn-1', 'one').slice(0, -1),
        event('history.append', { origin: 'work', messages }, { turn: 'turn-1' }),
      ]);
    });
    await turns(store, 'two', 'three');
    await inSession(store, 'alice', () => undefined);
    const lines = (await readFile(files.snapshot, 'utf8')).split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(210_000);
    expect((await stateOf(store, 'alice')).messages).toHaveLength(26);
  });
});

describe('a disk that fails during a turn', () => {
  // A call that was written but not synced does not run; the next turn answers it as interrupted.
  it.each([
    ['appendFile', []],
    ['datasync', ['assistant', 'tool']],
  ] as const)('ends the turn with its error and keeps confirmed records: %s', async (method, unsynced) => {
    const { directory } = await place();
    const sessions = fileSessions({ directory });
    const spy = vi.spyOn(await fileHandles(), method);
    onTestFinished(() => spy.mockRestore());
    const write = (): string => {
      spy.mockRejectedValueOnce(Object.assign(new Error('Input/output error'), { code: 'EIO' }));
      return 'written';
    };
    const tools = scriptedTools({ write }, { write: { effect: 'local-write' } });
    const agent = harness({
      // The model is called before the failure is known; its answer is not recorded.
      model: scriptedModel([response(call('w1', 'write')), response(call('w2', 'write')), 'I see.']),
      tools,
      sessions,
    }).pipe();
    const failed = await reply(agent.turn({ session: 'alice', input: 'Go.' }));
    expect(failed).toMatchObject({ outcome: 'error', error: { code: 'EIO' } });
    expect(await sessions.unfinished()).toHaveLength(1);
    expect(await reply(agent.turn({ session: 'alice', input: 'And now?' }))).toMatchObject({
      outcome: 'completed',
      text: 'I see.',
    });
    const messages = await sessions.messages('alice');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', ...unsynced, 'user', 'assistant']);
    expect([tools.ran.length, repairHistory(messages).repairs]).toEqual([1, []]);
  });
});

describe('a journal that could not be synced', () => {
  it('continues in a copy, because the system may treat lost pages as written', async () => {
    const { directory, files } = await place();
    const store = fileSessions({ directory });
    const open = await store.open('alice');
    await write(open, openTurn('turn-1', 'one'));
    const before = await stat(files.journal);
    const spy = vi
      .spyOn(await fileHandles(), 'datasync')
      .mockRejectedValueOnce(Object.assign(new Error('Input/output error'), { code: 'EIO' }));
    onTestFinished(() => spy.mockRestore());
    await expect(write(open, wholeTurn('turn-1', 'one').slice(6), 6)).rejects.toMatchObject({ code: 'EIO' });
    await open.close();
    expect((await stat(files.journal)).ino).not.toBe(before.ino);
    expect((await journalOf(store, 'alice')).length).toBe(7);
    expect((await readdir(files.path)).filter((name) => name.endsWith('.new'))).toEqual([]);
  });
});

describe('onProblem', () => {
  it('may throw without affecting the repair', async () => {
    const { directory } = await place();
    const store = fileSessions({
      directory,
      fsync: 'never',
      onProblem: () => {
        throw new Error('The log is gone.');
      },
    });
    await turns(store, 'one');
    await appendFile(folderOf(directory, 'alice').journal, '{"v":1');
    await turns(store, 'two');
    expect(await store.messages('alice')).toEqual(['one', 'two'].flatMap(messagesOf));
    await writeFile(folderOf(directory, 'broken').path, 'no folder');
    expect(await store.list()).toMatchObject([{ session: 'alice' }]);
  });
});

describe('an event that is older than the one before it', () => {
  it('is stored like any other', async () => {
    const { store } = await place();
    await inSession(store, 'alice', (open) => write(open, wholeTurn('turn-1', 'one', 2_000_000)));
    await inSession(store, 'alice', (open) => write(open, wholeTurn('turn-2', 'two', 1_000)));
    expect(await store.messages('alice')).toEqual([...messagesOf('one'), user('two'), ...messagesOf('two').slice(1)]);
    expect(await store.list()).toMatchObject([{ turns: 2, latestTurn: 'turn-2', updatedAt: 1_000 }]);
  });
});
