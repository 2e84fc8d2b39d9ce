import { useEffect } from 'preact/hooks';
import { useStore } from '../client/store.js';
import { age, moment } from '../state/format.js';
import { hrefOf } from '../state/route.js';
import { openApprovals } from '../state/station.js';
import { summaryOf } from '../state/tool-summary.js';
import { ApprovalCard } from './approval.js';
import { AuditLog } from './audit-log.js';
import { useApp, useNow } from './context.js';
import { Empty, State } from './elements.js';

/** All open approvals, and the latest decisions. */
export const ApprovalsView = () => {
  const { station, fail } = useApp();
  const now = useNow(5000);
  const state = useStore(station.store, (each) => each);
  useEffect(() => {
    station.api.approvals().then((approvals) => station.store.dispatch({ type: 'approvals', approvals }), fail);
  }, []);
  const open = openApprovals(state);
  const decided = [...state.approvals.values()]
    .filter((approval) => approval.state !== 'open')
    .toSorted((left, right) => (right.decidedAt ?? right.requestedAt) - (left.decidedAt ?? left.requestedAt))
    .slice(0, 50);
  return (
    <div class="page">
      <h1>Approvals</h1>
      {open.length === 0 ? (
        <Empty title="Nothing to decide">Calls that need a person appear here and in their session.</Empty>
      ) : (
        <div class="cards">
          {open.map((approval) => (
            <ApprovalCard key={approval.id} approval={approval} />
          ))}
        </div>
      )}
      {decided.length > 0 && (
        <section>
          <h2 class="section">Decided</h2>
          <ul class="decided">
            {decided.map((approval) => (
              <li key={approval.id}>
                <State state={approval.state} isLabelled />
                <span class="mono decided-call">
                  {approval.call ? `${approval.call.name} ${summaryOf(approval.call.input)}` : approval.reason}
                </span>
                {approval.session !== null && (
                  <a href={hrefOf({ view: 'session', id: approval.session, tab: 'conversation' })}>
                    <bdi>{state.sessions.get(approval.session)?.title ?? 'session'}</bdi>
                  </a>
                )}
                <span class="muted end" title={approval.decidedAt === null ? undefined : moment(approval.decidedAt)}>
                  {approval.decidedBy ?? ''} {age(approval.decidedAt ?? approval.requestedAt, now)}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <AuditLog />
    </div>
  );
};
