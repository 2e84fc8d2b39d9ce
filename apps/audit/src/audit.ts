import { setImmediate } from 'node:timers/promises';
import { loadPrices, type CostOf } from '@h/prices';
import { SessionAudit, type SessionReport } from './analysis/session.js';
import { TextFacts } from './analysis/text-facts.js';
import type { AuditFile } from './read/find-files.js';
import { formatOf } from './read/formats.js';
import { readEntries, type OnBytes } from './read/read-entries.js';
import type { AuditRecord, RecordReader, WasSeen } from './read/record.js';
import { createSeen } from './read/seen.js';
import { compareWith, type Comparison } from './replay/comparison.js';
import type { Stack } from './replay/stack.js';

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
  /** @defaultValue the catalog of `@h/prices` */
  readonly costOf?: CostOf | undefined;
  /** Makes the operators of a pipeline through which every session is replayed. @defaultValue no session is replayed */
  readonly stack?: Stack | undefined;
  readonly onBytes?: OnBytes | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Entries between two turns of the event loop, in which a signal of the terminal can arrive. */
const entriesPerPause = 64;

/** Entries that a format may begin with before one that tells the format. */
const maxUnknownEntries = 200;

/** Audits files one after the other. A file that cannot be read is skipped and named. */
export const audit = async (files: readonly AuditFile[], options: AuditOptions = {}): Promise<AuditResult> => {
  const { costOf = await loadPrices(), stack, onBytes = () => undefined, signal } = options;
  const shared: Shared = { costOf, wasSeen: createSeen(), facts: new TextFacts(), stack, onBytes, signal };
  const sessions: AuditedSession[] = [];
  const skipped: SkippedFile[] = [];
  for (const { path } of files) {
    signal?.throwIfAborted();
    try {
      sessions.push(await auditFile(path, shared));
    } catch (error) {
      signal?.throwIfAborted();
      skipped.push({ path, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { sessions, skipped };
};

/** What the audits of all files share. */
interface Shared {
  readonly costOf: CostOf;
  readonly wasSeen: WasSeen;
  readonly facts: TextFacts;
  readonly stack: Stack | undefined;
  readonly onBytes: OnBytes;
  readonly signal: AbortSignal | undefined;
}

const auditFile = async (path: string, shared: Shared): Promise<AuditedSession> => {
  const { costOf, wasSeen, facts, stack, onBytes, signal } = shared;
  const damage = { skippedLines: 0 };
  const session = new SessionAudit(costOf, facts);
  const records: AuditRecord[] = [];
  const take = (record: AuditRecord): void => {
    session.take(record);
    if (stack) records.push(record);
  };
  let format: { readonly name: string; readonly reader: RecordReader } | undefined;
  let unknown = 0;
  let entries = 0;
  reading: for await (const batch of readEntries(path, damage, onBytes)) {
    for (const entry of batch) {
      entries += 1;
      if (entries % entriesPerPause === 0) await setImmediate();
      signal?.throwIfAborted();
      format ??= formatOf(entry, wasSeen);
      if (format) for (const record of format.reader.read(entry)) take(record);
      else if ((unknown += 1) > maxUnknownEntries) break reading;
    }
  }
  if (!format) {
    throw new Error('The format is unknown. Supported are Claude Code, Codex, pi, OpenHands, OpenAI, AI SDK and h.');
  }
  for (const record of format.reader.end()) take(record);
  const report = session.end({ path, format: format.name, skippedLines: damage.skippedLines });
  return stack ? { ...report, replay: await compareWith(stack, path, records, signal) } : report;
};
