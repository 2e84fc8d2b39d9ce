/** A process that writes a session, for tests with several of them: `<what it does> <directory>`. Says what happens as lines of JSON. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import fs, { open as openFile, type FileHandle } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import type { TurnEvent } from '@h/turn';
import { fileSessions, type FileSessions } from '../src/index.js';
import { folderOf } from '../src/files/folder.js';
import { openTurn, wholeTurn, write } from '../src/testing/records.js';

const [, , work = '', directory = ''] = process.argv;

/** At once, and not when the process gets round to it. */
const say = (what: object): void => void writeSync(1, `${JSON.stringify(what)}\n`);

const told = (error: unknown): object => ({
  code: (error as { code?: unknown }).code,
  message: error instanceof Error ? error.message : String(error),
});

const keepAlive = (): void => void setInterval(() => undefined, 1000);

/** Writes a turn and stays. */
const hold = async (): Promise<void> => {
  const open = await fileSessions({ directory }).open('alice');
  for (const [seq, event] of openTurn('turn-1', 'one').entries()) {
    await open.append({ v: 1, seq, event, derived: false });
  }
  say({ holds: process.pid });
  keepAlive();
};

/** Looks as if it were another machine, is suspended past its lease, and continues when it is woken. */
const oversleep = async (stopAt: 'before' | 'within'): Promise<void> => {
  os.hostname = () => 'elsewhere';
  const open = await fileSessions({ directory, leaseMs: 200, fsync: 'never' }).open('alice');
  const sleep = (): void => {
    say({ sleeps: process.pid });
    process.kill(process.pid, 'SIGSTOP');
  };
  const events = wholeTurn('turn-1', 'one');
  const append = async (seq: number): Promise<void> =>
    open.append({ v: 1, seq, event: events[seq] as TurnEvent, derived: false });
  for (let seq = 0; seq < events.length - 1; seq += 1) {
    await append(seq);
    say({ confirmed: seq });
  }
  if (stopAt === 'before') sleep();
  // The lock was looked at, and the next thing is the write.
  else await beforeNextWrite(sleep);
  await append(events.length - 1).then(
    () => say({ confirmed: events.length - 1 }),
    (error: unknown) => say(told(error)),
  );
  await open.close();
  say({ closed: true });
};

/** What is done next with a file of this path, other than to write to it, is not done before the process is woken. */
const sleepBeforeChangeOf = (path: string): void => {
  const { rename, rm } = fs;
  const sleepOnce = (): void => {
    Object.assign(fs, { rename, rm });
    say({ sleeps: process.pid });
    process.kill(process.pid, 'SIGSTOP');
  };
  fs.rename = (from, to) => {
    if (to === path) sleepOnce();
    return rename(from, to);
  };
  fs.rm = (target, options) => {
    if (target === path) sleepOnce();
    return rm(target, options);
  };
};

/** Sleeps over its lease right before it puts a file of a session that it opens in the place of another one. */
const oversleepOpening = async (): Promise<void> => {
  os.hostname = () => 'elsewhere';
  sleepBeforeChangeOf(folderOf(directory, 'alice').journal);
  await fileSessions({ directory, leaseMs: 200 })
    .open('alice')
    .then(
      (open) => open.close(),
      (error: unknown) => say(told(error)),
    );
  say({ closed: true });
};

/** The disk fails; the process sleeps over its lease right before it puts a copy in the place of what may not be on it. */
const oversleepClosing = async (): Promise<void> => {
  os.hostname = () => 'elsewhere';
  const open = await fileSessions({ directory, leaseMs: 200 }).open('alice');
  const events = wholeTurn('turn-1', 'one');
  for (const [seq, event] of events.entries()) {
    if (seq === events.length - 1) await failNextSync();
    await write(open, [event], seq).then(
      () => say({ confirmed: seq }),
      (error: unknown) => say(told(error)),
    );
  }
  sleepBeforeChangeOf(folderOf(directory, 'alice').journal);
  await open.close();
  say({ closed: true });
};

/** Sleeps over its lease before it has written anything, or in the middle of its turn. */
const oversleepDeletion = async (written: number): Promise<void> => {
  os.hostname = () => 'elsewhere';
  const open = await fileSessions({ directory, leaseMs: 200, fsync: 'never' }).open('alice');
  const events = wholeTurn('turn-1', 'one');
  await write(open, events.slice(0, written));
  say({ sleeps: process.pid });
  process.kill(process.pid, 'SIGSTOP');
  await write(open, events.slice(written), written).catch((error: unknown) => say(told(error)));
  await open.close();
  say({ closed: true });
};

/** Deletes the session and sleeps over its lease before one of its operations on files. */
const oversleepDelete = async (): Promise<void> => {
  os.hostname = () => 'elsewhere';
  const operations = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
  let count = 0;
  for (const name of ['mkdir', 'open', 'readdir', 'rename', 'rm', 'rmdir', 'stat', 'writeFile']) {
    const operation = operations[name] as (...given: unknown[]) => unknown;
    operations[name] = (...given) => {
      count += 1;
      if (count === Number(process.argv[4])) {
        say({ sleeps: process.pid });
        process.kill(process.pid, 'SIGSTOP');
      }
      return operation(...given);
    };
  }
  await fileSessions({ directory, leaseMs: 100 })
    .delete('alice')
    .then(
      () => say({ deleted: true }),
      (error: unknown) => say(told(error)),
    );
};

const prototypeOfFiles = async (): Promise<FileHandle> => {
  const handle = await openFile(process.execPath);
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
};

const failNextSync = async (): Promise<void> => {
  const prototype = await prototypeOfFiles();
  const { datasync } = prototype;
  prototype.datasync = () => {
    prototype.datasync = datasync;
    return Promise.reject(Object.assign(new Error('The disk fails.'), { code: 'EIO' }));
  };
};

const beforeNextWrite = async (act: () => void): Promise<void> => {
  const prototype = await prototypeOfFiles();
  const { appendFile } = prototype;
  prototype.appendFile = function (this: FileHandle, ...given: Parameters<FileHandle['appendFile']>) {
    prototype.appendFile = appendFile;
    act();
    return appendFile.apply(this, given);
  };
};

/** Writes until the disk is full, makes room, and continues. The directory is on a separate disk. */
const fill = async (): Promise<void> => {
  mkdirSync(directory, { recursive: true });
  const problems: string[] = [];
  const store = fileSessions({ directory, onProblem: ({ kind }) => problems.push(kind) });
  const filler = join(directory, 'filler');
  writeFileSync(filler, Buffer.alloc(500_000));
  const confirmed = await writeUntilItFails(store);
  const whileFull = await store.open('alice').then((open) => open.close(), told);
  const [info] = await store.list();
  const messages = await store.messages('alice');
  rmSync(filler);
  const open = await store.open('alice');
  const found = open.journal.length;
  for (const [seq, event] of wholeTurn('turn-2', 'two').entries()) {
    await open.append({ v: 1, seq, event, derived: false });
  }
  await open.close();
  say({
    confirmed,
    found,
    whileFull,
    state: info?.state,
    readWhileFull: messages.length,
    problems,
    after: (await store.messages('alice')).length,
  });
};

const writeUntilItFails = async (store: FileSessions): Promise<number> => {
  const open = await store.open('alice');
  const [start, loaded, input, ...rest] = openTurn('turn-1', 'one');
  const note = { ...(rest[2] as Extract<TurnEvent, { type: 'session.state' }>), value: 'x'.repeat(30_000) };
  let seq = 0;
  try {
    for (; ; seq += 1) await open.append({ v: 1, seq, event: [start, loaded, input][seq] ?? note, derived: false });
  } catch (error) {
    say(told(error));
  }
  await open.close();
  return seq;
};

/** Has no file to spare, then some, until it has enough: whatever fails on the way must leave no lock behind. */
const starve = async (): Promise<void> => {
  const store = fileSessions({ directory });
  await store.open('alice').then((open) => open.close());
  const files: number[] = [];
  const takeAll = (): void => {
    for (;;) {
      try {
        files.push(openSync('/dev/null', 'r'));
      } catch {
        return;
      }
    }
  };
  const codes: unknown[] = [];
  for (let spare = 0; spare <= 6; spare += 1) {
    takeAll();
    for (let count = 0; count < spare; count += 1) closeSync(files.pop() as number);
    codes.push(
      await store.open('alice').then(
        async (open) => {
          await open.close();
          return 'opened';
        },
        (error: unknown) => (error as { code?: unknown }).code,
      ),
    );
  }
  for (const file of files) closeSync(file);
  const open = await store.open('alice');
  await open.close();
  say({ codes, isFree: true });
};

/** Finds its disk read-only from one moment to the next: what is there can be read, and nothing can be begun. */
const freeze = async (): Promise<void> => {
  const store = fileSessions({ directory });
  const open = await store.open('alice');
  for (const [seq, event] of openTurn('turn-1', 'one').entries()) {
    await open.append({ v: 1, seq, event, derived: false });
  }
  await open.close();
  execFileSync('mount', ['-o', 'remount,ro', directory]);
  const refused = await store.open('alice').then(() => 'opened', told);
  const deleted = await store.delete('alice').then(() => 'deleted', told);
  const turns: string[] = [];
  for await (const { turn } of store.archive('alice')) turns.push(turn);
  say({
    refused,
    deleted,
    turns,
    unfinished: (await store.unfinished()).length,
    states: (await store.list()).map(({ state }) => state),
    messages: (await store.messages('alice')).length,
  });
};

const turnsEach = 12;

/** Writes a few turns into a session that others want, too. */
const compete = async (): Promise<void> => {
  const store = fileSessions({ directory, fsync: 'never' });
  for (let number = 0; number < turnsEach;) {
    const open = await store.open('alice').catch(() => undefined);
    if (!open) continue;
    const turn = `${process.pid}-${number}`;
    for (const [seq, event] of wholeTurn(turn, turn).entries()) await open.append({ v: 1, seq, event, derived: false });
    say({ wrote: turn });
    await open.close();
    number += 1;
  }
};

const works: Readonly<Record<string, () => Promise<void>>> = {
  hold,
  'oversleep-before': () => oversleep('before'),
  'oversleep-within': () => oversleep('within'),
  'oversleep-opening': oversleepOpening,
  'oversleep-closing': oversleepClosing,
  'oversleep-deletion-first': () => oversleepDeletion(0),
  'oversleep-deletion-later': () => oversleepDeletion(4),
  'oversleep-delete': oversleepDelete,
  fill,
  starve,
  freeze,
  compete,
};
void works[work]?.();
