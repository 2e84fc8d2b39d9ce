import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnError } from '@h/turn';
import { processState, thisProcess, type ProcessMark } from '@h/turn/process';
import { numberIn } from './files.js';
import { InboxHeldError } from './inbox-held-error.js';

/** The right to write in a folder. */
export interface Lock {
  /** Which holder of the folder this is; the numbers only grow. */
  readonly number: number;
  /** @throws TurnError `inbox-taken` if another process holds the folder */
  check(): Promise<void>;
  release(): Promise<void>;
}

interface Holder extends ProcessMark {
  readonly leaseMs: number;
}

/**
 * Takes the lock of a folder.
 *
 * Each holder has a number and a folder `lock.<number>`, in which a file names it; the highest counts. The folder is moved into place
 * complete, which works for one process alone. It stays when the lock is released, emptied, so that no number is given twice.
 *
 * @throws InboxHeldError while the holder lives, or may live and has renewed its lease
 */
export const takeLock = async (folder: string, leaseMs: number): Promise<Lock> => {
  // oxlint-disable-next-line h/no-clock -- processes that ask at once need names of their own
  const draft = join(folder, `${draftPrefix}${crypto.randomUUID()}`);
  const text = JSON.stringify({ ...thisProcess(), leaseMs } satisfies Holder);
  try {
    await mkdir(draft, { mode: 0o700 });
    await writeFile(ownerIn(draft), text, { mode: 0o600 });
    const number = (await highest(folder)) + 1;
    await refuseIfHeld(folder, number - 1, (await stat(ownerIn(draft))).mtimeMs);
    const handle = await moveInto(folder, draft, number);
    return await inForce(folder, number, handle, text, leaseMs);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

const draftPrefix = '.draft-';

const lockIn = (folder: string, number: number): string => join(folder, `lock.${number}`);

const ownerIn = (lock: string): string => join(lock, 'owner');

const lockNumber = (name: string): number => numberIn(/^lock\.(\d+)$/, name);

/** The highest number that was given; files have the numbers of their holders, should somebody tidy up the locks. */
const highest = async (folder: string): Promise<number> =>
  Math.max(0, ...(await readdir(folder)).map((name) => numberIn(/^(?:lock|inbox)\.(\d+)(?:\.|$)/, name)));

const refuseIfHeld = async (folder: string, number: number, now: number): Promise<void> => {
  const lock = lockIn(folder, number);
  const [holder, renewedAt] = await Promise.all([
    holderOf(lock),
    stat(ownerIn(lock)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  ]);
  if (!holder) return;
  const state = processState(holder);
  // A renewal that lies ahead was made by another clock, or this one was put back.
  if (state === 'alive' || (state === 'unknown' && Math.abs(now - renewedAt) <= holder.leaseMs)) {
    throw new InboxHeldError(folder, holder);
  }
};

/** The holder of a lock; none if it was released, or emptied by a loss of power that no holder outlives. */
const holderOf = async (lock: string): Promise<Holder | undefined> => {
  try {
    return JSON.parse(await readFile(ownerIn(lock), 'utf8')) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const moveInto = async (folder: string, draft: string, number: number): Promise<FileHandle> => {
  try {
    await rename(draft, lockIn(folder, number));
  } catch (error) {
    // What the system says of a folder that is there already differs.
    if ((await highest(folder)) >= number) throw await overtaken(folder);
    throw error;
  }
  return open(ownerIn(lockIn(folder, number)), 'r+');
};

/** Another process was faster. */
const overtaken = async (folder: string): Promise<InboxHeldError> =>
  new InboxHeldError(folder, await holderOf(lockIn(folder, await highest(folder))));

/** The lock, renewed from now on; given back where a higher number shows that the look before it came too late. */
const inForce = async (
  folder: string,
  number: number,
  handle: FileHandle,
  text: string,
  leaseMs: number,
): Promise<Lock> => {
  let renewing: Promise<unknown> = Promise.resolve();
  // That it cannot be renewed shows when somebody takes it.
  const renew = (): void => {
    renewing = handle.write(text, 0).catch(() => undefined);
  };
  const timer = setInterval(renew, leaseMs / 3).unref();
  const release = async (): Promise<void> => {
    clearInterval(timer);
    await renewing;
    try {
      await handle.truncate(0);
    } finally {
      await handle.close();
    }
  };
  const lock: Lock = {
    number,
    check: async () => {
      if ((await highest(folder)) !== number) {
        throw new TurnError(
          'inbox-taken',
          `Another process has taken this one for dead and has the inbox in ${JSON.stringify(folder)}; nothing more is kept.`,
        );
      }
    },
    release,
  };
  try {
    if ((await highest(folder)) !== number) throw await overtaken(folder);
    await removeOthers(folder, number);
    return lock;
  } catch (error) {
    await release();
    throw error;
  }
};

/** How old a draft is that nobody works on any more. */
const surelyLeftMs = 600_000;

const removeOthers = async (folder: string, number: number): Promise<void> => {
  const { mtimeMs: now } = await stat(ownerIn(lockIn(folder, number)));
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const isEarlier = lockNumber(name) > 0 && lockNumber(name) < number;
    const isLeft =
      name.startsWith(draftPrefix) &&
      now -
        (await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => now,
        )) >
        surelyLeftMs;
    // A leftover file does no harm.
    if (isEarlier || isLeft) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
};
