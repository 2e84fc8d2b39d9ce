import {
  appendFile,
  mkdir,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import { SessionBusyError, type TurnEvent } from '@h/turn';
import { InvalidOptionError } from '@h/options';
import { event, user } from '@h/turn/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { inSession, journalOf, messagesOf, openTurn, stateOf, wholeTurn, write } from '../testing/records.js';
import { fileSessions, type FileSessions } from '../index.js';
import type { ArchivedTurn } from './archive.js';
import { fileHandles, place, turns } from '../../test/place.js';
import { folderOf, type SessionFolder } from './folder.js';
import { encodeLine } from './lines.js';

/** Acts as another machine that acquires the lock of a session. */
const takeOver = async ({ path }: SessionFolder): Promise<void> => {
  await rm(join(path, 'lock.1'), { recursive: true });
  await mkdir(join(path, 'lock.2/token'), { recursive: true });
  await writeFile(join(path, 'lock.2/token/owner'), JSON.stringify({ host: 'elsewhere', pid: 1, leaseMs: 60_000 }));
};

/** A string that makes a turn long enough for a checkpoint. */
const long = (letter: string): string => letter.repeat(700_000);

describe('a journal with an incomplete last record', () => {
  it('loses only that record, wherever it is truncated', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one');
    const before = await readFile(files.journal);
    await inSession(store, 'alice', (open) => write(open, openTurn('turn-2', 'zwei €')));
    const after = await readFile(files.journal);
    const lastLine = after.lastIndexOf('\n', after.length - 2) + 1;
    for (let length = lastLine + 1; length < after.length; length += 7) {
      await writeFile(files.journal, after.subarray(0, length));
      expect((await journalOf(store, 'alice')).length).toBe(5);
      expect(await readFile(files.journal)).toEqual(after.subarray(0, lastLine));
      const problem = problems.pop();
      expect(problem).toMatchObject({
        kind: 'torn-record',
        session: 'alice',
        path: files.journal,
        bytes: length - lastLine,
      });
      expect(await readFile(problem?.backup ?? '')).toEqual(after.subarray(lastLine, length));
    }
    expect(after.subarray(0, before.length)).toEqual(before);
  });

  it('continues after the record before it', async () => {
    const { store, files } = await place();
    await turns(store, 'one');
    await appendFile(files.journal, '{"v":1,"seq":0,"event":{"type":"turn.st');
    await turns(store, 'two');
    expect(await store.messages('alice')).toEqual(['one', 'two'].flatMap(messagesOf));
  });

  it('is read without that record, and not changed by readers without a lock', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one');
    await appendFile(files.journal, '{"v":1,"se');
    const { size } = await stat(files.journal);
    expect(await store.messages('alice')).toEqual(messagesOf('one'));
    expect(await store.list()).toMatchObject([{ turns: 1 }]);
    const [line] = (await readFile(files.journal, 'utf8')).split('\n');
    await truncate(files.journal, size - 10);
    await appendFile(files.journal, line ?? '');
    expect(await store.list()).toMatchObject([{ turns: 1 }]);
    await truncate(files.journal, size - 10);
    await appendFile(files.journal, '{"v":1,"se');
    expect([(await stat(files.journal)).size, problems]).toEqual([size, []]);
  });
});

describe('a journal with a damaged record', () => {
  const damage = async (files: SessionFolder, line: number, text: string): Promise<Buffer> => {
    const lines = (await readFile(files.journal, 'utf8')).split('\n');
    lines[line] = text;
    await writeFile(files.journal, lines.join('\n'));
    return readFile(files.journal);
  };

  it.each([
    ['is no JSON', 'x'.repeat(20)],
    ['has zeros in it', '\u0000'.repeat(300)],
    [
      'has a record too few',
      encodeLine(
        '{"v":1,"seq":9,"event":{"type":"session.state","turn":"t","at":0,"key":"a","value":1},"derived":false}',
      ),
    ],
  ])('is backed up and ends before the damage: %s', async (_, text) => {
    const { store, files, problems } = await place();
    await turns(store, 'one', 'two');
    const damaged = await damage(files, 10, text);
    expect((await journalOf(store, 'alice')).map((record) => record.event.turn)).toEqual([
      'turn-two',
      'turn-two',
      'turn-two',
    ]);
    expect(problems).toMatchObject([{ kind: 'corrupt-journal', session: 'alice', path: files.journal }]);
    expect(await readFile(problems[0]?.backup ?? '')).toEqual(damaged);
    await turns(store, 'three');
    expect(await store.messages('alice')).toEqual([...messagesOf('one'), user('two'), ...messagesOf('three')]);
    expect(problems).toHaveLength(1);
  });

  it('never overwrites a backup', async () => {
    const { store, files, problems } = await place();
    for (const text of ['one', 'two', 'three']) {
      await turns(store, text);
      await damage(files, 0, `broken ${text}`);
      await turns(store, 'next');
    }
    expect(new Set(problems.map(({ backup }) => backup)).size).toBe(3);
    for (const [index, text] of ['one', 'two', 'three'].entries()) {
      expect(await readFile(problems[index]?.backup ?? '', 'utf8')).toContain(`broken ${text}`);
    }
  });

  it('is not changed if a later release wrote it', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one');
    await appendFile(files.journal, `${encodeLine('{"v":2,"seq":0,"what":"ever"}')}\n`);
    const before = await readFile(files.journal);
    await expect(store.open('alice')).rejects.toMatchObject({ code: 'unsupported-version' });
    await expect(store.open('alice')).rejects.toMatchObject({ code: 'unsupported-version' });
    expect([await readFile(files.journal), problems]).toEqual([before, []]);
  });
});

describe('a snapshot', () => {
  it('is written after a long read, to skip earlier records next time', async () => {
    const { store, files } = await place();
    await turns(store, long('a'), 'short', 'last');
    await journalOf(store, 'alice');
    const { size } = await stat(files.journal);
    const { head } = JSON.parse(`{"head":${(await readFile(files.snapshot, 'utf8')).split('\n')[0] ?? ''}}`) as {
      head: { size: number; turns: number };
    };
    // The latest turn is always read, because it may be resumed.
    expect(head).toMatchObject({ turns: 1 });
    expect(head.size).toBeGreaterThan(1_000_000);
    // Everything before it is unused, and could be missing.
    const journal = await readFile(files.journal);
    await writeFile(files.journal, Buffer.concat([Buffer.alloc(head.size, 'x'), journal.subarray(head.size)]));
    expect(await stateOf(store, 'alice')).toEqual({
      messages: [long('a'), 'short', 'last'].flatMap(messagesOf),
      state: { last: 'last' },
    });
    await turns(store, 'more');
    expect((await stat(files.journal)).size).toBeGreaterThan(size);
    expect((await store.messages('alice')).slice(-2)).toEqual(messagesOf('more'));
    expect(await store.list()).toMatchObject([{ turns: 4 }]);
  });

  it.each([
    ['torn', (text: string) => text.slice(0, text.length / 2)],
    ['without its last line', (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)],
    ['no JSON', () => 'x\ny\n'],
    [
      'at the wrong place',
      (text: string) => {
        const [head = '', ...rest] = text.split('\n');
        const json = head
          .replace(/"crc":"\w+",/, '')
          .replace(/"size":(\d+)/, (_, size) => `"size":${Number(size) - 3}`);
        return [encodeLine(json), ...rest].join('\n');
      },
    ],
  ])('that is %s is backed up and rebuilt from the journal', async (_, change) => {
    const { store, files, problems } = await place();
    await turns(store, long('a'), 'short', 'last');
    await journalOf(store, 'alice');
    const broken = change(await readFile(files.snapshot, 'utf8'));
    await writeFile(files.snapshot, broken);
    expect((await stateOf(store, 'alice')).messages).toEqual([long('a'), 'short', 'last'].flatMap(messagesOf));
    expect(problems).toMatchObject([
      { kind: 'corrupt-snapshot', path: files.snapshot, bytes: Buffer.byteLength(broken) },
    ]);
    expect(await readFile(problems[0]?.backup ?? '', 'utf8')).toBe(broken);
    expect(await readFile(files.snapshot, 'utf8')).not.toBe(broken);
  });

  it('keeps the history when the journal is lost', async () => {
    const { store, files, problems } = await place();
    await turns(store, long('a'), 'short', 'last');
    await journalOf(store, 'alice');
    await truncate(files.journal, 100);
    expect((await stateOf(store, 'alice')).messages).toEqual(messagesOf(long('a')));
    expect(problems).toMatchObject([{ kind: 'short-journal', bytes: 100 }]);
    await turns(store, 'more');
    expect((await store.messages('alice')).slice(-4)).toEqual([long('a'), 'more'].flatMap(messagesOf));
  });
});

describe('a list of sessions', () => {
  it('describes each session, most recently used first', async () => {
    const { store } = await place();
    await inSession(store, 'old', (open) => write(open, wholeTurn('turn-1', 'Fix the tests.', 1000)));
    await inSession(store, 'new', async (open) => {
      await write(open, wholeTurn('turn-2', `${'x'.repeat(199)}🙂`, 2000));
      await write(open, openTurn('turn-3', 'And now?', 3000));
    });
    await inSession(store, 'empty', () => undefined);
    const running = await store.open('runs');
    await write(running, openTurn('turn-4', 'Wait.', 2500));
    expect(await store.list()).toMatchObject([
      {
        session: 'new',
        createdAt: 2000,
        updatedAt: 3000,
        turns: 2,
        firstInput: `${'x'.repeat(199)}\ufffd`,
        latestTurn: 'turn-3',
        state: 'unfinished',
      },
      { session: 'runs', turns: 1, state: 'running' },
      {
        session: 'old',
        createdAt: 1000,
        updatedAt: 1000,
        turns: 1,
        firstInput: 'Fix the tests.',
        latestTurn: 'turn-1',
        state: 'idle',
      },
    ]);
    await running.close();
  });

  it.each(['any', 'another name than in its records'])(
    'has the name of a new session before it is closed: %s',
    async (name) => {
      const { store } = await place();
      const running = await store.open(name);
      await write(running, openTurn('turn-1', 'Wait.'));
      expect(await store.list()).toMatchObject([{ session: name, latestTurn: 'turn-1' }]);
      await running.close();
      expect(await store.list()).toMatchObject([{ session: name, latestTurn: 'turn-1' }]);
    },
  );

  it('is empty without a folder, and ignores other files', async () => {
    const { directory } = await place();
    expect(await fileSessions({ directory: `${directory}/none` }).list()).toEqual([]);
    await writeFile(`${directory}/notes.txt`, 'x');
    expect(await fileSessions({ directory }).list()).toEqual([]);
  });

  it('omits sessions of a later release, and no others', async () => {
    const { store, files } = await place();
    await turns(store, 'one');
    await inSession(store, 'bob', (open) => write(open, wholeTurn('turn-b', 'other')));
    await writeFile(files.head, encodeLine('{"v":2,"session":"alice"}'));
    expect((await store.list()).map(({ session }) => session)).toEqual(['bob']);
    expect(await store.locate('turn-b')).toBe('bob');
    await expect(store.open('alice')).rejects.toMatchObject({ code: 'unsupported-version' });
  });

  it('is right if the summary is missing, outdated or damaged', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one');
    const behind = await readFile(files.head);
    await turns(store, 'two');
    const right = await store.list();
    await writeFile(files.head, behind);
    expect(await store.list()).toEqual(right);
    await writeFile(files.head, '{"v":1');
    expect(await store.list()).toEqual([{ ...right[0], session: 'any' }]);
    await journalOf(store, 'alice');
    expect(problems).toMatchObject([{ kind: 'corrupt-head', bytes: 6 }]);
    expect(await store.list()).toEqual(right);
  });
});

describe('an archive', () => {
  const read = async (store: FileSessions): Promise<readonly ArchivedTurn[]> => {
    const all: ArchivedTurn[] = [];
    for await (const turn of store.archive('alice')) all.push(turn);
    return all;
  };

  it('yields every turn unchanged, including replaced messages', async () => {
    const { store } = await place();
    await turns(store, 'one', 'two');
    const replacing = [
      ...openTurn('turn-3', 'three', 30),
      event(
        'history.replace',
        { origin: 'compaction', messages: [user('All of it, in short.')] },
        { turn: 'turn-3', at: 31 },
      ),
      event(
        'turn.end',
        { outcome: 'completed', steps: 1, usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 } },
        { turn: 'turn-3', at: 32 },
      ),
    ];
    await inSession(store, 'alice', (open) => write(open, replacing));
    await inSession(store, 'alice', (open) => write(open, openTurn('turn-4', 'four', 40)));
    expect(await store.messages('alice')).toEqual([user('All of it, in short.'), ...messagesOf('four')]);
    const archive = await read(store);
    expect(archive.map(({ messages }) => messages)).toEqual(['one', 'two', 'three', 'four'].map(messagesOf));
    expect(archive[2]).toMatchObject({
      turn: 'turn-3',
      trigger: 'user',
      startedAt: 30,
      endedAt: 32,
      outcome: 'completed',
      usage: { output: 2 },
      replacements: 1,
    });
    expect(archive[3]).not.toHaveProperty('endedAt');
  });

  it('yields nothing for an unknown session, and reports the position of damage', async () => {
    const { store, files } = await place();
    expect(await read(store)).toEqual([]);
    await turns(store, 'one');
    await appendFile(files.journal, 'broken\n');
    await expect(read(store)).rejects.toThrow(/is damaged at byte \d+: .*\. Open the session to repair it/);
    await (await store.open('alice')).close();
    expect(await read(store)).toHaveLength(1);
  });
});

describe('deleting', () => {
  it('removes all files of a session, but not while it is open', async () => {
    const { store, directory } = await place();
    const open = await store.open('alice');
    await write(open, wholeTurn('turn-1', 'one'));
    await expect(store.delete('alice')).rejects.toBeInstanceOf(SessionBusyError);
    await open.close();
    await store.delete('alice');
    await store.delete('unknown');
    expect(await readdir(directory)).toEqual([]);
    expect([await store.messages('alice'), await store.locate('turn-1'), await store.list()]).toEqual([
      [],
      undefined,
      [],
    ]);
    await turns(store, 'two');
    expect(await store.messages('alice')).toEqual(messagesOf('two'));
  });
});

describe('writing', () => {
  it.each([
    ['record', 3],
    ['turn', 1],
    ['never', 0],
  ] as const)('syncs records as often as fsync %s requires', async (fsync, times) => {
    const store = fileSessions({ directory: temporaryFolder(), fsync });
    const open = await store.open('alice');
    const datasync = vi.spyOn(await fileHandles(), 'datasync');
    onTestFinished(() => datasync.mockRestore());
    await write(open, wholeTurn('turn-1', 'one'));
    expect(datasync).toHaveBeenCalledTimes(times);
    await open.close();
  });

  it('syncs records together that arrive while the disk is busy', async () => {
    const store = fileSessions({ directory: temporaryFolder() });
    const open = await store.open('any');
    const prototype = await fileHandles();
    const [datasync, appendFile] = [vi.spyOn(prototype, 'datasync'), vi.spyOn(prototype, 'appendFile')];
    onTestFinished(() => [datasync, appendFile].forEach((spy) => spy.mockRestore()));
    const [start, ...rest] = openTurn('turn-1', 'one');
    const notes = Array.from({ length: 500 }, () => rest[4]);
    await Promise.all(
      [start, ...rest, ...notes].map(async (each, seq) =>
        open.append({ v: 1, seq, event: each as TurnEvent, derived: false }),
      ),
    );
    expect([datasync.mock.calls.length, appendFile.mock.calls.length]).toEqual([1, 1]);
    await Promise.all([
      open.append({ v: 1, seq: 506, event: rest[1] as TurnEvent, derived: false }),
      open.append({ v: 1, seq: 507, event: rest[1] as TurnEvent, derived: false }),
    ]);
    expect(datasync.mock.calls.length).toBe(2);
    await open.close();
    expect(await journalOf(store, 'any')).toHaveLength(508);
  });

  it('ends with the first write that fails, and the next opening repairs the journal', async () => {
    const { store, problems } = await place();
    const open = await store.open('alice');
    await write(open, openTurn('turn-1', 'one'));
    const appendFile = vi.spyOn(await fileHandles(), 'appendFile');
    onTestFinished(() => appendFile.mockRestore());
    appendFile.mockImplementationOnce(async function (this: FileHandle, data) {
      await this.write(String(data).slice(0, 20));
      throw Object.assign(new Error('No space left on device'), { code: 'ENOSPC' });
    });
    const late = wholeTurn('turn-1', 'one').slice(6);
    await expect(write(open, late, 6)).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect(write(open, openTurn('turn-2', 'two'))).rejects.toMatchObject({ code: 'ENOSPC' });
    await open.close();
    expect(await store.list()).toMatchObject([{ turns: 1, state: 'unfinished' }]);
    expect(await journalOf(store, 'alice')).toHaveLength(6);
    expect(problems).toMatchObject([{ kind: 'torn-record', bytes: 20 }]);
  });

  it('rejects records that wait behind a failed write, and closes after both', async () => {
    const { store, files } = await place();
    const open = await store.open('alice');
    await write(open, openTurn('turn-1', 'one'));
    const before = await readFile(files.journal, 'utf8');
    const appendFile = vi.spyOn(await fileHandles(), 'appendFile');
    onTestFinished(() => appendFile.mockRestore());
    let fail: (error: Error) => void = () => undefined;
    appendFile.mockImplementationOnce(() => new Promise((_, reject) => (fail = reject)));
    const [end] = wholeTurn('turn-1', 'one').slice(6);
    const append = async (seq: number): Promise<void> =>
      open.append({ v: 1, seq, event: end as TurnEvent, derived: false });
    const first = append(6).catch((error: unknown) => error);
    await vi.waitFor(() => expect(appendFile).toHaveBeenCalledTimes(1));
    const second = append(7).catch((error: unknown) => error);
    let isClosed = false;
    const closing = Promise.resolve(open.close()).then(() => (isClosed = true));
    await store.list();
    expect(isClosed).toBe(false);
    fail(new Error('Gone.'));
    expect(await Promise.all([first, second])).toMatchObject([{ message: 'Gone.' }, { message: 'Gone.' }]);
    await closing;
    expect(await readFile(files.journal, 'utf8')).toBe(before);
  });

  it('is rejected after the session was closed', async () => {
    const { store, files } = await place();
    const open = await store.open('alice');
    await write(open, openTurn('turn-1', 'one'));
    await open.close();
    const before = await readFile(files.journal, 'utf8');
    await expect(write(open, openTurn('turn-2', 'two'))).rejects.toMatchObject({ code: 'session-closed' });
    expect(await readFile(files.journal, 'utf8')).toBe(before);
  });

  it('locks the session with the lease of leaseMs', async () => {
    const directory = temporaryFolder();
    const open = await fileSessions({ directory, leaseMs: 4321 }).open('alice');
    const lock = join(folderOf(directory, 'alice').path, 'lock.1');
    const owner = await readFile(join(lock, (await readdir(lock))[0] ?? '', 'owner'), 'utf8');
    expect(JSON.parse(owner)).toMatchObject({ pid: process.pid, leaseMs: 4321 });
    await open.close();
  });

  it('fails permanently after a record that cannot be written', async () => {
    const { store, files } = await place();
    const open = await store.open('alice');
    await write(open, openTurn('turn-1', 'one'));
    const unwritable = event('session.state', { key: 'k', value: 1n as never }, { turn: 'turn-1' });
    await expect(open.append({ v: 1, seq: 6, event: unwritable, derived: false })).rejects.toMatchObject({
      code: 'unwritable-record',
    });
    await expect(write(open, openTurn('turn-2', 'two'))).rejects.toMatchObject({ code: 'unwritable-record' });
    await open.close();
    expect((await readFile(files.journal, 'utf8')).split('\n')).toHaveLength(7);
  });

  it('rejects a record that leaves a gap', async () => {
    const { store } = await place();
    const [first, second] = openTurn('turn-1', 'one');
    await inSession(store, 'alice', async (open) => {
      await open.append({ v: 1, seq: 0, event: first as never, derived: false });
      await expect(open.append({ v: 1, seq: 2, event: second as never, derived: false })).rejects.toMatchObject({
        code: 'journal-gap',
      });
    });
  });

  it('fails if the folder was deleted, and releases the session', async () => {
    const { store, files } = await place();
    const open = await store.open('alice');
    await rm(files.path, { recursive: true });
    await expect(write(open, openTurn('turn-1', 'one'))).rejects.toMatchObject({ code: 'session-taken' });
    await open.close();
    await turns(store, 'two');
    expect(await store.messages('alice')).toEqual(messagesOf('two'));
  });

  it('fails after a takeover, and leaves the journal of the new holder unchanged', async () => {
    const { store, files } = await place();
    const late = await store.open('alice');
    await write(late, openTurn('turn-1', 'one'));
    const before = await readFile(files.journal, 'utf8');
    await takeOver(files);
    await expect(write(late, wholeTurn('turn-1', 'one').slice(6), 6)).rejects.toMatchObject({ code: 'session-taken' });
    await late.close();
    expect(await readFile(files.journal, 'utf8')).toBe(before);
    await expect(store.open('alice')).rejects.toBeInstanceOf(SessionBusyError);
    expect(await store.list()).toMatchObject([{ state: 'running' }]);
  });

  it('does not write to the journal that an earlier holder has open, even if that one is empty', async () => {
    const { store, files } = await place();
    await mkdir(join(files.path, 'lock.1/token'), { recursive: true });
    await writeFile(join(files.path, 'lock.1/token/owner'), JSON.stringify({ host: 'elsewhere', pid: 1, leaseMs: 0 }));
    const earlier = await openFile(files.journal, 'a');
    await turns(store, 'one');
    await earlier.appendFile('late');
    await earlier.close();
    expect(await readFile(files.journal, 'utf8')).not.toContain('late');
    expect(await store.messages('alice')).toEqual(messagesOf('one'));
  });

  it('creates files for their owner only', async () => {
    const { store, files } = await place();
    await turns(store, 'one');
    expect([
      (await stat(files.path)).mode & 0o77,
      (await stat(files.journal)).mode & 0o77,
      (await stat(files.head)).mode & 0o77,
    ]).toEqual([0, 0, 0]);
  });

  it('folds to the same history after any cut between records', async () => {
    const { store, files } = await place();
    await turns(store, 'one', 'two');
    const whole = await readFile(files.journal, 'utf8');
    const lines = whole.split('\n').slice(0, -1);
    for (let count = 0; count <= lines.length; count += 1) {
      await writeFile(
        files.journal,
        lines
          .slice(0, count)
          .map((line) => `${line}\n`)
          .join(''),
      );
      await rm(files.head, { force: true });
      const { messages } = await stateOf(store, 'alice');
      expect(messages).toEqual(await store.messages('alice'));
      expect(messages.length, `${count} records`).toBe([0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 4, 4][count]);
    }
  });
});

describe('options', () => {
  it.each<[string, object, RegExp]>([
    [
      'an unknown key',
      { directory: 'x', sync: true },
      /unknown option "sync" .* Known options: directory, fsync, leaseMs, onProblem/,
    ],
    ['no directory', {}, /"directory" /],
    ['an empty directory', { directory: '' }, /"directory" must be a non-empty string; received ""/],
    ['an unknown policy', { directory: 'x', fsync: 'always' }, /"fsync" must be .*; received "always"/],
    [
      'a lease that is too short',
      { directory: 'x', leaseMs: 10 },
      /"leaseMs" must be a number from 100 to 2147483647; received 10/,
    ],
    [
      'a problem handler that is not a function',
      { directory: 'x', onProblem: 1 },
      /"onProblem" must be a function; received 1/,
    ],
  ])('are rejected with %s', (_, options, message) => {
    expect(() => fileSessions(options as never)).toThrow(InvalidOptionError);
    expect(() => fileSessions(options as never)).toThrow(message);
  });
});
