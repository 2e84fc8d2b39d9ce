import { createSeen } from './read/seen.js';
import { formatOf } from './read/formats.js';
import { readEntries } from './read/read-entries.js';
import type { AuditRecord, RecordReader } from './read/record.js';

export { findFiles, type AuditFile } from './read/find-files.js';
export type { AuditRecord } from './read/record.js';

/**
 * Reads the records of one transcript of any format that the report supports.
 *
 * @throws Error if the file cannot be read or its format is unknown
 */
export const readRecords = async (path: string): Promise<readonly AuditRecord[]> => {
  const records: AuditRecord[] = [];
  const wasSeen = createSeen();
  let reader: RecordReader | undefined;
  for await (const entries of readEntries(path, { skippedLines: 0 }, () => undefined)) {
    for (const entry of entries) {
      reader ??= formatOf(entry, wasSeen)?.reader;
      if (reader) records.push(...reader.read(entry));
    }
  }
  if (!reader) throw new Error(`The format of ${path} is unknown.`);
  return [...records, ...reader.end()];
};
