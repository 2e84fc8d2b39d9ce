import type { CostOf } from '@h/prices';
import type { AuditRecord } from '../read/record.js';
import { SessionAudit, type SessionFile, type SessionReport } from './session.js';
import type { TextFacts } from './text-facts.js';

/** Analyzes the records of one session, here or in a thread. */
export interface Analyst {
  /** Takes the next records; resolves when it can take more. */
  take(records: readonly AuditRecord[]): Promise<void>;
  /** Returns the report. */
  end(file: SessionFile): Promise<SessionReport>;
}

/** Creates an analyst that works in this thread. */
export const createAnalyst = (costOf: CostOf, facts: TextFacts): Analyst => {
  const session = new SessionAudit(costOf, facts);
  return {
    take: async (records) => session.take(records),
    end: async (file) => session.end(file),
  };
};
