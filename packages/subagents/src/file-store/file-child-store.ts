import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnError } from '@h/turn';
import { anyFunction, nonEmptyString, checkOptions, numberFrom, required, integerFrom } from '@h/options';
import { Gate } from '../gate.js';
import type { ChildRecord, ChildStore } from '../record.js';
import { isDraft, isLeft, isProcessFolder, makeClaim, takeAway, type Claim } from './claim.js';
import { ageOf, ifThere, isHalfWritten, removeIfEmpty, replaceFile, syncFolder, timeIn } from './files.js';
import { isRecordFile, readRecord, recordFile } from './record-file.js';

/** A file that could not be read as a record. It is kept, under another name. */
export interface ChildStoreProblem {
  readonly path: string;
  /** Where it is now. */
  readonly backup: string;
  readonly message: string;
}

/** Options of {@link fileChildStore}. */
export interface FileChildStoreOptions {
  /** The folder. It is made when the first record is kept; several processes may share it. */
  readonly directory: string;
  /**
   * After how long without a sign of life a process on another machine is taken for dead, in milliseconds. It gives three in
   * that time. On the same machine the system tells, whatever the lease says.
   *
   * @defaultValue `30_000`
   */
  readonly leaseMs?: number | undefined;
  /**
   * How many records of dead processes are left for others, where `list` does not want them: the latest. Those beyond belong
   * to agents to which nobody has come back for long, and are removed.
   *
   * @defaultValue `1000`, as many as there may be unread in a process
   */
  readonly mostLeft?: number | undefined;
  /** Told of files that make no sense. */
  readonly onProblem?: ((problem: ChildStoreProblem) => void) | undefined;
}

/** A {@link ChildStore} in a folder. */
export interface FileChildStore extends ChildStore {
  save(record: ChildRecord): Promise<void>;
  delete(id: string): Promise<void>;
  list(isWanted?: (record: ChildRecord) => boolean): Promise<readonly ChildRecord[]>;
  /** Waits for what is being written and lets go. What is left belongs to whoever lists it next. */
  close(): Promise<void>;
}

/**
 * Keeps records of sub-agents in files: what was confirmed survives the end of the process at any moment, and a loss of power.
 *
 * Each record is a file that is replaced as a whole. Each process writes in a folder of its own, so that several may share the
 * directory; `list` brings what this process has kept and what those have left that are dead, and makes that its own. Of two
 * processes that list at once one has each record.
 *
 * @throws TurnError `invalid-option`
 *
 * @example
 * ```ts
 * const store = fileChildStore({ directory: '.agent/subagents' });
 * const team = subagents({ agents, store });
 * await team.recover({ unfinished: () => agent.unfinished() });
 * ```
 */
export const fileChildStore = (options: FileChildStoreOptions): FileChildStore => {
  checkOptions('fileChildStore()', options, {
    directory: required(nonEmptyString),
    leaseMs: numberFrom(100, 2_147_483_647),
    mostLeft: integerFrom(0, Infinity),
    onProblem: anyFunction,
  });
  const { directory, leaseMs = 30_000, mostLeft = 1000, onProblem = () => undefined } = options;
  return new Files({ directory, leaseMs, mostLeft, onProblem });
};

type FileSettings = { readonly [Name in keyof FileChildStoreOptions]-?: NonNullable<FileChildStoreOptions[Name]> };

/** Stands for all records. */
const all = Symbol('all');

/** A record of a dead process that was not wanted. */
interface LeftRecord {
  readonly folder: string;
  readonly name: string;
  readonly spawnedAt: number;
}

class Files implements FileChildStore {
  readonly #options: FileSettings;
  #claim: Promise<Claim> | undefined;
  #current: Claim | undefined;
  /** What is being done, by what it is done to. */
  readonly #underWay = new Map<string | symbol, Promise<unknown>>();
  /** A process may have so many files open, and there is no end of agents. */
  readonly #gate = new Gate(32);
  #isClosed = false;

  constructor(options: FileSettings) {
    this.#options = options;
  }

  save(record: ChildRecord): Promise<void> {
    const text = JSON.stringify(record);
    return this.#inOrder(record.id, async ({ folder }) => replaceFile(join(folder, recordFile(record.id)), text));
  }

  delete(id: string): Promise<void> {
    return this.#inOrder(id, async ({ folder }) => {
      await rm(join(folder, recordFile(id)), { force: true });
      await syncFolder(folder);
    });
  }

  list(isWanted: (record: ChildRecord) => boolean = () => true): Promise<readonly ChildRecord[]> {
    return this.#inOrder(all, async (own) => {
      const { directory, leaseMs } = this.#options;
      const now = await timeIn(own.folder);
      const left: LeftRecord[] = [];
      for (const name of await readdir(directory)) {
        const folder = join(directory, name);
        if (isProcessFolder(name) && folder !== own.folder && (await isLeft(folder, now))) {
          left.push(...(await this.#inherit(folder, own.folder, isWanted)));
        }
        if (isDraft(name) && (await ageOf(folder, now)) > leaseMs) await rm(folder, { recursive: true, force: true });
      }
      await this.#removeOldest(left);
      const found: ChildRecord[] = [];
      for (const name of (await readdir(own.folder)).filter(isRecordFile)) {
        const record = await this.#read(join(own.folder, name));
        if (record && isWanted(record)) found.push(record);
      }
      return found.toSorted((one, other) => one.spawnedAt - other.spawnedAt);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#underWay.values());
    const claim = await this.#claim?.catch(() => undefined);
    if (!claim) return;
    await claim.release();
    await removeIfEmpty(claim.folder);
  }

  /** One thing at a time for each record, and nothing once others have what is here. */
  #inOrder<Result>(key: string | symbol, work: (claim: Claim) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new TurnError('store-closed', 'The store of sub-agents was closed.'));
    const before = this.#underWay.get(key) ?? Promise.resolve();
    const done = before.then(async () => {
      await this.#gate.enter(undefined);
      try {
        const claim = await this.#claimed();
        await this.#check(claim);
        return await work(claim);
      } finally {
        this.#gate.leave();
      }
    });
    const settled = done
      .catch(() => undefined)
      .then(() => {
        if (this.#underWay.get(key) === settled) this.#underWay.delete(key);
      });
    this.#underWay.set(key, settled);
    return done;
  }

  #claimed(): Promise<Claim> {
    this.#claim ??= this.#makeClaim();
    // A disk that was full may have room the next time.
    this.#claim.catch(() => (this.#claim = undefined));
    return this.#claim;
  }

  async #makeClaim(): Promise<Claim> {
    const { directory, leaseMs } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    this.#current = await makeClaim(directory, leaseMs);
    return this.#current;
  }

  /** What was taken is lost to this process; what comes after that it keeps in a new folder. */
  async #check(claim: Claim): Promise<void> {
    try {
      await claim.check();
    } catch (error) {
      // Others may have noticed it before, and have a new one.
      if (this.#current === claim) this.#claim = undefined;
      throw error;
    }
  }

  /** Makes the records of a dead process its own, each by one step that succeeds for one process alone. Answers with the others. */
  async #inherit(
    folder: string,
    own: string,
    isWanted: (record: ChildRecord) => boolean,
  ): Promise<readonly LeftRecord[]> {
    const left: LeftRecord[] = [];
    await takeAway(folder);
    for (const name of (await ifThere(readdir(folder))) ?? []) {
      if (isHalfWritten(name)) await rm(join(folder, name), { force: true });
      const record = isRecordFile(name) ? await this.#read(join(folder, name)) : undefined;
      if (!record) continue;
      if (isWanted(record)) await ifThere(rename(join(folder, name), join(own, name)));
      else left.push({ folder, name, spawnedAt: record.spawnedAt });
    }
    await syncFolder(own);
    await removeIfEmpty(folder);
    return left;
  }

  async #removeOldest(left: readonly LeftRecord[]): Promise<void> {
    const beyond = left.toSorted((one, other) => other.spawnedAt - one.spawnedAt).slice(this.#options.mostLeft);
    for (const { folder, name } of beyond) await rm(join(folder, name), { force: true });
    for (const folder of new Set(beyond.map((record) => record.folder))) await removeIfEmpty(folder);
  }

  async #read(path: string): Promise<ChildRecord | undefined> {
    const text = await ifThere(readFile(path, 'utf8'));
    const record = text === undefined ? 'later' : readRecord(text);
    // What a later release has written is for that to read.
    if (record === 'later') return undefined;
    if (record) return record;
    const backup = `${path}.corrupt`;
    await ifThere(rename(path, backup));
    this.#tell({
      path,
      backup,
      message: 'The file makes no sense as the record of a sub-agent; nobody is told of it.',
    });
    return undefined;
  }

  #tell(problem: ChildStoreProblem): void {
    try {
      this.#options.onProblem(problem);
    } catch {
      // It only looks.
    }
  }
}
