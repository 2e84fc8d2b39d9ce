import { mkdir, open, rename, rm, stat, unlink, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { highestIn, lockIn, ownerIn, unsettledIn, type Holder } from './holders.js';

/** A lock that is not in place yet. */
export interface Candidate {
  /** The time of the file system, by which leases are measured. */
  readonly now: number;
  discard(): Promise<void>;
  /** Puts it in place, unless somebody is there already. @returns its file */
  moveTo(generation: number, isBroken: boolean): Promise<FileHandle | undefined>;
}

export const candidatePrefix = '.candidate-';

/** Makes a lock beside the others, complete, so that it can be moved into place. */
export const makeCandidate = async (folder: string, holder: Holder): Promise<Candidate> => {
  // oxlint-disable-next-line h/no-clock -- two openings of one process need names of their own
  const own = join(folder, `${candidatePrefix}${crypto.randomUUID()}`);
  const discard = (): Promise<void> => rm(own, { recursive: true, force: true });
  try {
    await mkdir(own, { mode: 0o700 });
    await writeFile(ownerIn(own), JSON.stringify(holder), { mode: 0o600 });
    const { mtimeMs: now } = await stat(ownerIn(own));
    return { now, discard, moveTo: (generation, isBroken) => move(folder, own, generation, isBroken) };
  } catch (error) {
    await discard().catch(() => undefined);
    throw error;
  }
};

const move = async (
  folder: string,
  own: string,
  generation: number,
  isBroken: boolean,
): Promise<FileHandle | undefined> => {
  const place = lockIn(folder, generation);
  try {
    if (isBroken) await writeFile(unsettledIn(own), '', { mode: 0o600 });
    await rename(own, place);
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    const isTaken = ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');
    // Some systems say something else of a folder that is there already.
    if (isTaken || (await highestIn(folder)) >= generation) return undefined;
    throw error;
  }
  try {
    return await open(ownerIn(place), 'r+');
  } catch (error) {
    // Its living owner knows nothing of it: without its file it is nobody's.
    await unlink(ownerIn(place)).catch(() => undefined);
    throw error;
  }
};
