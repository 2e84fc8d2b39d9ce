import { useEffect, useState } from 'preact/hooks';
import type { StationAuditEntry } from '../../api/contract.js';
import { explain, RequestError } from '../client/api.js';
import { useStore } from '../client/store.js';
import { age, moment } from '../state/format.js';
import { hrefOf } from '../state/route.js';
import { summaryOf } from '../state/tool-summary.js';
import { useApp, useNow } from './context.js';

const actions: Readonly<Record<string, string>> = {
  'session.create': 'created a session',
  'session.delete': 'deleted a session',
  'session.fork': 'copied a session',
  'turn.cancel': 'cancelled a turn',
  'approval.link': 'created a link to an approval',
  'run.start': 'started a run',
  'run.cancel': 'cancelled a run',
};
const decisions: Readonly<Record<string, string>> = {
  once: 'allowed once',
  session: 'allowed in its session',
  always: 'always allowed',
  deny: 'denied',
};

/** Shows the audit log. It is loaded when it is opened. */
export const AuditLog = () => {
  const { station } = useApp();
  const now = useNow(5000);
  const [isOpen, setOpen] = useState(false);
  const [entries, setEntries] = useState<readonly StationAuditEntry[]>();
  const [problem, setProblem] = useState<string>();
  const { sessions, approvals } = useStore(station.store, (each) => each);
  const decided = [...approvals.values()].filter(({ state }) => state !== 'open').length;
  useEffect(() => {
    if (!isOpen) return;
    station.api.audit().then(setEntries, (error: unknown) => {
      const isForbidden = error instanceof RequestError && error.status === 403;
      setProblem(isForbidden ? 'Only tokens with the scope admin can read the audit log.' : explain(error));
    });
  }, [isOpen, decided]);
  const subject = ({ action, target }: StationAuditEntry) => {
    const call = action.startsWith('approval.') ? approvals.get(target)?.call : undefined;
    if (call) return <span class="mono decided-call">{`${call.name} ${summaryOf(call.input)}`}</span>;
    const session = sessions.get(target);
    if (!session) return <span class="mono decided-call">{target}</span>;
    return (
      <span class="decided-call">
        <a href={hrefOf({ view: 'session', id: target, tab: 'conversation' })}>
          <bdi>{session.title}</bdi>
        </a>
      </span>
    );
  };
  return (
    <details class="audit" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Audit log</summary>
      {problem !== undefined && <p class="muted">{problem}</p>}
      {entries?.length === 0 && <p class="muted">Nothing was created, cancelled, deleted or decided yet.</p>}
      <ul class="decided">
        {entries?.map((entry, index) => (
          <li key={index}>
            <span class="audit-action">
              <bdi>{entry.actor}</bdi> {actionText(entry)}
            </span>
            {subject(entry)}
            <time class="muted end" dateTime={new Date(entry.at).toISOString()} title={moment(entry.at)}>
              {age(entry.at, now)}
            </time>
          </li>
        ))}
      </ul>
    </details>
  );
};

const actionText = ({ action, detail }: StationAuditEntry): string => {
  if (action !== 'approval.decide') return actions[action] ?? action;
  const decision =
    typeof detail === 'object' && detail !== null && 'decision' in detail ? detail['decision'] : undefined;
  return (typeof decision === 'string' ? decisions[decision] : undefined) ?? 'decided';
};
