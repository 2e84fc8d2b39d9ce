import { setImmediate } from 'node:timers/promises';
import { loadPrices, type CostOf } from '@h/prices';
import { createAnalyst, type Analyst } from './analysis/analyst.js';
import type { SessionFile, SessionReport } from './analysis/session.js';
import { TextFacts } from './analysis/text-facts.js';
import type { AuditFile } from './read/find-files.js';
import { formatOf } from './read/formats.js';
import { readEntries, type OnBytes } from './read/read-entries.js';
import type { AuditRecord, RecordReader, WasSeen } from './read/record.js';
import { createSeen } from './read/seen.js';
import { compareWith, type Comparison } from './replay/comparison.js';
import type { Stack } from './replay/stack.js';
import type { SessionThreads } from './threads/session-threads.js';

/** A file that is not part of the report, and why. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

/** The report of a session, and what the session became in a pipeline. */
export interface AuditedSession extends SessionReport {
  /** Absent without `stack`. */
  readonly replay?: Comparison | undefined;
}

/** The reports of all sessions. */
export interface AuditResult {
  readonly sessions: readonly AuditedSession[];
  readonly skipped: readonly SkippedFile[];
}

/** Options of {@link audit}. */
export interface AuditOptions {
  /** @defaultValue the catalog of `@h/prices`, which threads always use */
  readonly costOf?: CostOf | undefined;
  /** Makes the operators of a pipeline through which every session is replayed. @defaultValue no session is replayed */
  readonly stack?: Stack | undefined;
  readonly onBytes?: OnBytes | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Threads that analyze sessions while this one reads. They are closed with the audit. @defaultValue no threads */
  readonly threads?: SessionThreads | undefined;
}

/** Entries between two turns of the event loop, in which a signal of the terminal can arrive. */
const entriesPerPause = 64;

/** Entries that a format may begin with before one that tells the format. */
const maxUnknownEntries = 200;

/** Audits files. A file that cannot be read is skipped and named. */
export const audit = async (files: readonly AuditFile[], options: AuditOptions = {}): Promise<AuditResult> => {
  const { stack, onBytes = () => undefined, signal, threads } = options;
  const openAnalyst = threads ? () => threads.open() : await analystsHere(options.costOf);
  const shared: Shared = { openAnalyst, wasSeen: createSeen(), stack, onBytes, signal };
  const stop = (): void => void threads?.close();
  signal?.addEventListener('abort', stop, { once: true });
  const audited: Promise<AuditedSession | SkippedFile>[] = [];
  try {
    for (const { path } of files) {
      signal?.throwIfAborted();
      const { report } = await auditFile(path, shared);
      const settled = report.catch((error: unknown) => ({ path, reason: toReason(error) }));
      audited.push(settled);
      // A session that is replayed is held in memory.
      if (stack) await settled;
    }
    const all = await Promise.all(audited);
    signal?.throwIfAborted();
    return {
      sessions: all.filter((one): one is AuditedSession => !isSkipped(one)),
      skipped: all.filter(isSkipped),
    };
  } finally {
    signal?.removeEventListener('abort', stop);
    await threads?.close();
  }
};

const isSkipped = (one: AuditedSession | SkippedFile): one is SkippedFile => 'reason' in one;

const toReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const analystsHere = async (costOf?: CostOf): Promise<() => Analyst> => {
  const prices = costOf ?? (await loadPrices());
  const facts = new TextFacts();
  return () => createAnalyst(prices, facts);
};

/** What the audits of all files share. */
interface Shared {
  readonly openAnalyst: () => Analyst;
  readonly wasSeen: WasSeen;
  readonly stack: Stack | undefined;
  readonly onBytes: OnBytes;
  readonly signal: AbortSignal | undefined;
}

/** Reads a file, and returns its report, which may not be finished. */
const auditFile = async (path: string, shared: Shared): Promise<{ readonly report: Promise<AuditedSession> }> => {
  const analyst = shared.openAnalyst();
  try {
    const { format, skippedLines, records } = await readSession(path, analyst, shared);
    const { stack, signal } = shared;
    const report = analyst.end({ path, format, skippedLines });
    if (!stack) return { report };
    const replay = compareWith(stack, path, records, signal);
    return { report: Promise.all([report, replay]).then(([its, comparison]) => ({ ...its, replay: comparison })) };
  } catch (error) {
    shared.signal?.throwIfAborted();
    return { report: Promise.reject(new Error(toReason(error))) };
  }
};

/** What the file of a session is, and its records if they are replayed. */
interface ReadSession extends Omit<SessionFile, 'path'> {
  readonly records: readonly AuditRecord[];
}

const readSession = async (path: string, analyst: Analyst, shared: Shared): Promise<ReadSession> => {
  const { wasSeen, stack, onBytes, signal } = shared;
  const damage = { skippedLines: 0 };
  const records: AuditRecord[] = [];
  let next: AuditRecord[] = [];
  const pass = async (): Promise<void> => {
    const taken = next;
    next = [];
    if (stack) for (const record of taken) records.push(record);
    if (taken.length > 0) await analyst.take(taken);
    await setImmediate();
    signal?.throwIfAborted();
  };
  let format: { readonly name: string; readonly reader: RecordReader } | undefined;
  let unknown = 0;
  let entries = 0;
  reading: for await (const batch of readEntries(path, damage, onBytes)) {
    for (const entry of batch) {
      entries += 1;
      if (entries % entriesPerPause === 0) await pass();
      format ??= formatOf(entry, wasSeen);
      if (format) for (const record of format.reader.read(entry)) next.push(record);
      else if ((unknown += 1) > maxUnknownEntries) break reading;
    }
  }
  if (!format) {
    throw new Error('The format is unknown. Supported are Claude Code, Codex, pi, OpenHands, OpenAI, AI SDK and h.');
  }
  for (const record of format.reader.end()) next.push(record);
  await pass();
  return { format: format.name, skippedLines: damage.skippedLines, records };
};
