import type { MessagePort } from 'node:worker_threads';
import { loadPrices } from '@h/prices';
import { createAnalyst, type Analyst } from '../analysis/analyst.js';
import type { SessionFile, SessionReport } from '../analysis/session.js';
import { TextFacts } from '../analysis/text-facts.js';
import type { AuditRecord } from '../read/record.js';

/** The next records of a session. The last request of the session contains its file. */
export interface Request {
  readonly session: number;
  readonly records: readonly AuditRecord[];
  readonly file?: SessionFile;
}

/** The answer to one request. The answer to the last request of a session contains the report, or an error. */
export type Reply = { readonly report?: SessionReport } | { readonly error: string };

/** Analyzes the sessions that arrive at a port. Requests are answered in their order. */
export const serveSessions = async (port: MessagePort): Promise<void> => {
  const costOf = await loadPrices();
  const facts = new TextFacts();
  const open = new Map<number, Session>();
  const answer = async ({ session: id, records, file }: Request): Promise<Reply> => {
    const session = open.get(id) ?? { analyst: createAnalyst(costOf, facts), failure: undefined };
    if (file === undefined) open.set(id, session);
    else open.delete(id);
    try {
      if (session.failure !== undefined) return { error: session.failure };
      await session.analyst.take(records);
      return file === undefined ? {} : { report: await session.analyst.end(file) };
    } catch (error) {
      session.failure = error instanceof Error ? error.message : String(error);
      return { error: session.failure };
    }
  };
  let last = Promise.resolve();
  port.on('message', (request: Request) => {
    last = last.then(async () => port.postMessage(await answer(request)));
  });
};

/** A session of which not all records have arrived. */
interface Session {
  readonly analyst: Analyst;
  /** Why it has no report: one of its records could not be analyzed. */
  failure: string | undefined;
}
