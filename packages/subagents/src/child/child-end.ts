import { noUsage, toErrorInfo, type ErrorInfo, type Reply } from '@h/turn';
import { capText } from './evidence.js';
import type { Child } from '../team/family.js';
import type { ChildEnd, ChildStatus } from './record.js';

/** Progress of a run. Events after its abandonment have no effect. */
export interface Draft {
  startedAt: number | undefined;
  reply: Reply | undefined;
  error: ErrorInfo | undefined;
  /** A note about its copy. */
  copy: string | undefined;
  note: string | undefined;
  artifact: string | undefined;
}

/** Describes the folder of a copy that was not cleaned up. */
export const stillThere = (folder: string): string => `Its folder still exists: ${folder}`;

/** Derives the status of a run from its events. */
export const statusOf = (child: Child, { reply: done, error }: Draft): ChildStatus => {
  if (done?.outcome === 'completed' || done?.outcome === 'replied') return 'ok';
  if (child.isLate || done?.outcome === 'timed-out') return 'timed-out';
  if (child.abort.signal.aborted || done?.outcome === 'cancelled') return 'cancelled';
  return done || error ? 'failed' : 'cancelled';
};

/** Result of a run that has ended or was abandoned. */
export const endOf = (
  child: Child,
  draft: Draft,
  { resultChars, now }: { readonly resultChars: number; readonly now: number },
): ChildEnd => {
  const { id, agent, session, task } = child.record;
  const { reply: done, startedAt, artifact } = draft;
  const note = [draft.copy, draft.note].filter((each) => each !== undefined).join(' ');
  const error = draft.error ?? done?.error;
  const text = done?.text ?? '';
  const status = statusOf(child, draft);
  const reason = done?.reason ?? error?.message ?? (status === 'ok' ? undefined : abortReason(child.abort.signal));
  return {
    child: id,
    agent,
    session,
    task,
    status,
    ...(done && { outcome: done.outcome }),
    ...(reason !== undefined && { reason: capText(reason, mostReasonChars) }),
    ...(error && { error: briefly(error) }),
    text: capText(text, resultChars),
    textChars: text.length,
    ...(artifact !== undefined && { artifact }),
    steps: done?.steps ?? 0,
    usage: done?.usage ?? noUsage,
    durationMs: startedAt === undefined ? 0 : now - startedAt,
    ...(note !== '' && { note: capText(note, mostReasonChars) }),
  };
};

/** Truncates errors, because servers send long ones and ends are stored until they are read. */
const briefly = ({ name, message, code, status, operator, cause }: ErrorInfo): ErrorInfo => ({
  name,
  message: capText(message, mostReasonChars),
  ...(code !== undefined && { code }),
  ...(status !== undefined && { status }),
  ...(operator !== undefined && { operator }),
  ...(cause && { cause: briefly(cause) }),
});

const mostReasonChars = 2000;

/** Creates the end of a sub-agent that never started. */
export const unbegun = ({ record: { id, agent, session, task } }: Child, reason: string): ChildEnd => ({
  child: id,
  agent,
  session,
  task,
  status: 'failed',
  reason,
  text: '',
  textChars: 0,
  steps: 0,
  usage: noUsage,
  durationMs: 0,
});

const abortReason = ({ aborted, reason }: AbortSignal): string | undefined => {
  if (!aborted) return undefined;
  return toErrorInfo(reason).message;
};
