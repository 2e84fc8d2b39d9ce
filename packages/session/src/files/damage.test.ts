import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { acquireLock } from '@h/files';
import { DuplicateTurnError, foldJournal, harness, reply, type JSONValue, type Message, type TurnEvent } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileSessions, type FileSessions, type SessionProblem } from '../index.js';
import { inSession, journalOf, messagesOf, openTurn, stateOf, wholeTurn, write } from '../testing/records.js';
import { noCheckpoint, readCheckpoint, writeCheckpoint } from './checkpoint.js';
import { place, turns, type Place } from '../../test/place.js';
import { emptyHead } from './head.js';
import { decodeLine, encodeLine } from './lines.js';
import { load } from './load.js';

/** Every byte in the long tests; otherwise a prime, so that all columns of the lines are reached. */
const stride = process.env['TEST_LONG'] === '1' ? 1 : 7;

describe('the checksum of a line', () => {
  it('keeps the line JSON and accepts it unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const line = encodeLine(JSON.stringify({ v: 1, ...value }));
        expect(JSON.parse(line)).toMatchObject({ crc: expect.stringMatching(/^[0-9a-f]{8}$/) as string });
        expect(decodeLine(Buffer.from(line))).toBe(JSON.stringify({ v: 1, ...value }));
      }),
    );
  });

  it('rejects a line with any byte changed, removed or added', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.nat(),
        byte,
        fc.constantFrom('change', 'remove', 'add'),
        (text, at, by, kind) => {
          const line = Buffer.from(encodeLine(JSON.stringify({ v: 1, text })));
          const place = at % line.length;
          const rest = kind === 'add' ? place : place + 1;
          const changed = Buffer.concat([
            line.subarray(0, place),
            Buffer.from(kind === 'remove' ? [] : [by]),
            line.subarray(rest),
          ]);
          fc.pre(!changed.equals(line));
          expect(decodeLine(changed)).toBeUndefined();
        },
      ),
    );
  });
});

describe('a session with one changed byte', () => {
  /** Returns whether one list of messages begins with another. */
  const beginsWith = (all: readonly Message[], first: readonly Message[]): boolean =>
    JSON.stringify(all.slice(0, first.length)) === JSON.stringify(first);

  /** A turn of three records. */
  const smallTurn = (text: string): readonly TurnEvent[] =>
    wholeTurn(`turn-${text}`, text).filter(
      ({ type }, index) => index === 2 || ['turn.start', 'turn.end'].includes(type),
    );

  /** A session with a snapshot after its first turn. */
  const withSnapshot = async ({ store, files }: Place): Promise<void> => {
    await inSession(store, 'alice', (open) => write(open, smallTurn('one')));
    const { snapshot, journal, head, turns: past } = await load(files.journal, noCheckpoint('alice'));
    const lock = await acquireLock(files.path);
    const turnsBefore = past.without(undefined);
    await writeCheckpoint(files, { head, snapshot: foldJournal(snapshot, journal), turns: turnsBefore }, lock, false);
    await lock.release();
    await inSession(store, 'alice', (open) => write(open, smallTurn('two')));
  };

  it.each(['journal', 'snapshot', 'head'] as const)(
    'opens, and is either the same or reported, if a byte of its %s is damaged',
    async (name) => {
      const original = await place();
      await withSnapshot(original);
      const { store, files, directory } = original;
      const whole = await readFile(files[name]);
      expect(whole.length).toBeGreaterThan(100);
      const expected = await stateOf(store, 'alice');

      const check = async (at: number): Promise<boolean> => {
        const scratch = join(directory, `scratch-${(at / stride) % 8}`);
        const path = join(scratch, basename(files.path));
        const seen: SessionProblem[] = [];
        const damaged = fileSessions({
          directory: scratch,
          fsync: 'never',
          onProblem: (problem) => seen.push(problem),
        });
        await rm(path, { recursive: true, force: true });
        await mkdir(path, { recursive: true });
        const each = [files.journal, files.snapshot, files.head];
        await Promise.all(each.map((file) => copyFile(file, join(path, basename(file)))));
        const changed = Buffer.from(whole);
        changed[at] = (whole[at] ?? 0) ^ ([1, 0x80, 0x2a, 0xff][at % 4] ?? 1);
        await writeFile(join(path, basename(files[name])), changed);
        const where = `byte ${at} of ${whole.length}`;

        const messages = await damaged.messages('alice');
        if (seen.length === 0) expect(beginsWith(expected.messages, messages), where).toBe(true);
        expect((await damaged.list()).length, where).toBe(1);
        seen.length = 0;
        const found = await stateOf(damaged, 'alice');
        const isReported = seen.length > 0;
        if (!isReported || name !== 'journal') expect(found, where).toEqual(expected);
        if (isReported) expect((await readFile(seen[0]?.backup ?? '')).length, where).toBeGreaterThan(0);
        expect(beginsWith(expected.messages, found.messages), where).toBe(true);
        if (at % 19 !== 0) return isReported;
        // The repair is permanent, and the session continues.
        seen.length = 0;
        await inSession(damaged, 'alice', (open) => write(open, wholeTurn('turn-last', 'last')));
        expect((await damaged.messages('alice')).slice(-2), where).toEqual(messagesOf('last'));
        expect(seen, where).toEqual([]);
        return isReported;
      };
      let reported = 0;
      const bytes = Array.from({ length: Math.ceil(whole.length / stride) }, (_, index) => index * stride);
      for (let from = 0; from < bytes.length; from += 8) {
        reported += (await Promise.all(bytes.slice(from, from + 8).map(check))).filter(Boolean).length;
      }
      // Messages of the snapshot are not read from the journal.
      if (name === 'journal') expect(reported).toBeGreaterThan(bytes.length / 3);
      else expect(reported).toBe(bytes.length);
    },
    120_000,
  );
});

describe('a journal that lost its end', () => {
  it('is reported, and its turn is unfinished, after truncation at any line', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one', 'two');
    const whole = await readFile(files.journal);
    const head = await readFile(files.head);
    const ends = Array.from(whole.keys()).filter((at) => whole[at] === 0x0a && at + 1 < whole.length);
    for (const [index, at] of ends.entries()) {
      await writeFile(files.journal, whole.subarray(0, at + 1));
      await writeFile(files.head, head);
      problems.length = 0;
      const records = index + 1;
      const isWhole = records % 7 === 0;
      const turn = records <= 7 ? 'turn-one' : 'turn-two';
      expect((await store.unfinished()).map((each) => each.turn)).toEqual(isWhole ? [] : [turn]);
      expect(await store.list()).toMatchObject([{ session: 'alice', state: isWhole ? 'idle' : 'unfinished' }]);
      expect((await journalOf(store, 'alice')).length).toBe(isWhole ? 7 : records % 7);
      const lost = whole.length - at - 1;
      expect(problems).toMatchObject([{ kind: 'lost-records', path: files.journal, backup: undefined, bytes: lost }]);
      // It is reported once.
      await journalOf(store, 'alice');
      expect(problems).toHaveLength(1);
    }
  });

  it('is reported if it is missing altogether', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one');
    await rm(files.journal);
    expect((await journalOf(store, 'alice')).length).toBe(0);
    expect(problems).toMatchObject([{ kind: 'lost-records' }]);
    await truncate(files.head, 0);
    await journalOf(store, 'alice');
    expect(problems[1]).toMatchObject({ kind: 'corrupt-head' });
  });
});

describe.skipIf(process.platform === 'win32')('links and pipes in the folder of a session', () => {
  it.each(['journal', 'snapshot', 'head'] as const)('are refused in place of the %s without blocking', async (name) => {
    const { store, files, directory, problems } = await place();
    await turns(store, 'one');
    const outside = join(directory, 'outside');
    await rename(files[name], outside).catch(() => writeFile(outside, 'x\n'));
    const before = await readFile(outside);
    for (const make of [() => symlink(outside, files[name]), () => execFileSync('mkfifo', [files[name]])]) {
      await make();
      await expect(store.open('alice')).rejects.toMatchObject({ code: 'unsafe-file', path: files[name] });
      if (name !== 'head') await expect(store.messages('alice')).rejects.toMatchObject({ code: 'unsafe-file' });
      await store.list();
      await rm(files[name]);
    }
    if (name === 'head') expect(problems.map(({ kind }) => kind)).toContain('unreadable');
    expect(await readFile(outside)).toEqual(before);
  });

  it('are removed without being followed when the session is deleted', async () => {
    const { store, files, directory } = await place();
    await turns(store, 'one');
    await mkdir(join(directory, 'outside/kept'), { recursive: true });
    await symlink(join(directory, 'outside'), join(files.path, 'link'));
    await store.delete('alice');
    expect((await readdir(directory)).toSorted()).toEqual(['outside']);
    expect((await stat(join(directory, 'outside/kept'))).isDirectory()).toBe(true);
  });
});

describe('the state of a session', () => {
  it('keeps any key in a snapshot', async () => {
    const { files } = await place();
    const keys = ['__proto__', 'constructor', 'toString', '', 'a'];
    const state = JSON.parse(`{${keys.map((key) => `${JSON.stringify(key)}:"of ${key}"`).join()}}`) as Record<
      string,
      JSONValue
    >;
    const lock = await acquireLock(files.path);
    await writeCheckpoint(
      files,
      { head: emptyHead('alice'), snapshot: { messages: [], state }, turns: [] },
      lock,
      false,
    );
    await lock.release();
    const found = await readCheckpoint(files);
    expect(Object.entries(found?.snapshot.state ?? {})).toEqual(keys.map((key) => [key, `of ${key}`]));
  });
});

describe('a repeated turn id', () => {
  it('is rejected with the outcome of the first turn, even after a compaction', async () => {
    const { store } = await place();
    await turns(store, 'one');
    await inSession(store, 'alice', (open) => write(open, openTurn('turn-open', 'x'.repeat(140_000), 1000)));
    const repeat = (turn: string): Promise<unknown> =>
      inSession(store, 'alice', async (open) => {
        const past = open as Awaited<ReturnType<FileSessions['open']>>;
        const error: unknown = await write(open, wholeTurn(turn, 'again')).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(DuplicateTurnError);
        expect((error as DuplicateTurnError).first).toEqual(past.pastTurn(turn));
        // Nothing of the second turn is written after its start was rejected.
        const [, second] = wholeTurn(turn, 'again');
        await expect(open.append({ v: 1, seq: 1, event: second as never, derived: false })).rejects.toBe(error);
        return error;
      });
    const ended = { code: 'duplicate-turn', first: { turn: 'turn-one', startedAt: 7, outcome: 'completed' } };
    const unended = {
      message: expect.stringMatching(/"turn-open" .*1970-01-01T00:00:01.* has not ended; resume it/) as string,
      first: { turn: 'turn-open', startedAt: 1000, outcome: undefined },
    };
    expect(await repeat('turn-open')).toMatchObject(unended);
    expect(await repeat('turn-one')).toMatchObject(ended);
    await turns(store, 'two', 'three');
    for (let opening = 0; opening < 2; opening += 1) {
      expect(await repeat('turn-one')).toMatchObject(ended);
      expect(await repeat('turn-open')).toMatchObject({ first: { startedAt: 1000 } });
    }
    expect(await journalOf(store, 'alice')).toHaveLength(7);
  });

  it('fails the turn of a harness before anything runs', async () => {
    const { store } = await place();
    await turns(store, 'one', 'two');
    const before = await store.messages('alice');
    const model = scriptedModel(['Again.']);
    const agent = harness({ model, sessions: store }).pipe();
    for (const id of ['turn-one', 'turn-two']) {
      const { error } = await reply(agent.turn({ session: 'alice', input: 'Once more.', id }));
      expect(error).toMatchObject({ code: 'duplicate-turn', message: expect.stringContaining(id) as string });
    }
    expect(model.requests).toEqual([]);
    expect(await store.messages('alice')).toEqual(before);
  });
});

describe('a session whose journal is damaged from its first record', () => {
  it.each(['the process was killed in its first turn', 'its head is damaged too'])(
    'is listed as damaged, and opens: %s',
    async (when) => {
      const { store, directory, files, problems } = await place();
      const agent = harness({ model: scriptedModel(['Hello.']), sessions: store }).pipe();
      await reply(agent.turn({ session: 'alice', input: 'Hi' }));
      if (when.startsWith('its')) await writeFile(files.head, '{}');
      else await rm(files.head);
      const whole = await readFile(files.journal, 'utf8');
      for (const damaged of [whole.replace('Hi', 'Ho'), whole.slice(whole.indexOf('\n') + 1)]) {
        await writeFile(files.journal, damaged);
        const [info, ...others] = await store.list();
        const expected = { session: 'alice', state: 'damaged', turns: 0, bytes: damaged.length, latestTurn: '' };
        expect([info, others]).toMatchObject([expected, []]);
        expect(info?.updatedAt).toBe((await stat(files.journal)).mtimeMs);
        expect([await store.unfinished(), await store.locate('')]).toEqual([[], undefined]);
      }
      expect(problems).toEqual([]);
      await turns(store, 'two');
      expect(problems.map(({ kind }) => kind)).toContain('corrupt-journal');
      expect(await store.list()).toMatchObject([{ session: 'alice', state: 'idle', turns: 1 }]);
      expect((await readdir(directory)).length).toBe(1);
    },
  );

  it('is reported if no file contains its name', async () => {
    const { store, files, problems } = await place();
    await turns(store, 'one');
    await rm(files.head);
    await writeFile(files.journal, '\0\n"session":"bob"\n"session":"\\x"\n');
    expect(await store.list()).toEqual([]);
    expect(problems).toMatchObject([{ kind: 'unreadable', path: files.path, session: '' }]);
  });

  it('is not damaged while its first record is incomplete', async () => {
    const { store, files, problems } = await place();
    await mkdir(files.path);
    await writeFile(files.journal, '{"crc":"01234567","session":"alice"');
    expect([await store.list(), problems]).toEqual([[], []]);
  });
});
