import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { StationApproval } from '../../api/contract.js';
import type { Decision } from '../client/api.js';
import { age, duration, moment } from '../state/format.js';
import { hrefOf } from '../state/route.js';
import { visible } from '../state/visible.js';
import { CallInput } from './call-input.js';
import { useApp, useNow } from './context.js';
import { State } from './elements.js';

/** A question to a person: the reason, the exact call, and the answers. */
export const ApprovalCard = ({
  approval,
  isInline = false,
}: {
  readonly approval: StationApproval;
  readonly isInline?: boolean;
}) => {
  const { station, fail, notify } = useApp();
  const session = station.store.get().sessions.get(approval.session ?? '');
  const decide = async (decision: Decision): Promise<void> => {
    try {
      const decided = await station.api.decide(approval.id, decision);
      station.store.dispatch({ type: 'approvals', approvals: [decided] });
    } catch (error) {
      fail(error);
      // Another person may have decided meanwhile; the list then shows by whom.
      station.api.approvals().then((approvals) => station.store.dispatch({ type: 'approvals', approvals }), fail);
    }
  };
  const link = async (): Promise<void> => {
    try {
      const { url } = await station.api.link(approval.id);
      setUrl(url);
      await navigator.clipboard.writeText(url);
      notify('The link is copied. It works once, for this call only.');
    } catch (error) {
      if (!(error instanceof DOMException)) fail(error);
    }
  };
  const [url, setUrl] = useState<string>();
  return (
    <div class="approval" data-inline={isInline}>
      {!isInline && (
        <p class="approval-from">
          <State state={approval.state === 'open' ? 'waiting-for-input' : approval.state} />
          {approval.session !== null ? (
            <a href={hrefOf({ view: 'session', id: approval.session, tab: 'conversation' })}>
              <bdi>{session?.title ?? approval.session}</bdi>
            </a>
          ) : (
            <span>{approval.run === null ? 'Station' : `Workflow run ${approval.run}`}</span>
          )}
          {approval.agent !== null && <span class="muted">{approval.agent}</span>}
          <span class="muted end" title={moment(approval.requestedAt)}>
            <Age at={approval.requestedAt} />
          </span>
        </p>
      )}
      <ApprovalQuestion approval={approval} />
      <ApprovalAnswers approval={approval} onDecide={decide}>
        <button type="button" class="quiet" onClick={() => void link()} title="A link that works once, for a phone">
          Copy link
        </button>
      </ApprovalAnswers>
      {url !== undefined && (
        <input
          class="link-field mono"
          readOnly
          value={url}
          aria-label="Link to this approval"
          onFocus={(event) => event.currentTarget.select()}
        />
      )}
    </div>
  );
};

const Age = ({ at }: { readonly at: number }) => <>{age(at, useNow(5000))}</>;

/** What is asked, with the exact call. */
export const ApprovalQuestion = ({ approval }: { readonly approval: StationApproval }) => (
  <>
    <p class="approval-reason" dir="auto">
      {visible(approval.reason)}
    </p>
    {approval.call && (
      <div class="approval-call">
        <p class="mono approval-name">{visible(approval.call.name)}</p>
        <CallInput input={approval.call.input} isWhole />
      </div>
    )}
  </>
);

/** The answers to an open approval. Denying can have a reason, which the model reads. */
export const ApprovalAnswers = ({
  approval,
  isLink = false,
  onDecide,
  children,
}: {
  readonly approval: StationApproval;
  /** Whether the answers are those of a link, which decides about one call. */
  readonly isLink?: boolean;
  readonly onDecide: (decision: Decision) => Promise<void>;
  readonly children?: ComponentChildren;
}) => {
  const now = useNow();
  const [isBusy, setBusy] = useState(false);
  const [reason, setReason] = useState<string>();
  const answer = (decision: Decision['decision']): void => {
    setBusy(true);
    void onDecide({
      decision,
      ...(approval.call && { hash: approval.call.hash }),
      ...(decision === 'deny' && reason?.trim() && { reason: reason.trim() }),
    }).finally(() => setBusy(false));
  };
  const left = approval.expiresAt === null ? null : approval.expiresAt - now;
  if (approval.state !== 'open') return null;
  if (left !== null && left <= 0) return <p class="muted">This approval has expired. The call was denied.</p>;
  return (
    <div class="answers">
      {reason === undefined ? (
        <>
          <button type="button" class="primary" disabled={isBusy} onClick={() => answer('once')}>
            {approval.call ? 'Allow once' : 'Approve'}
          </button>
          {approval.call && !isLink && (
            <>
              <button type="button" disabled={isBusy} onClick={() => answer('session')}>
                Allow in this session
              </button>
              <button type="button" disabled={isBusy} onClick={() => answer('always')}>
                Always
              </button>
            </>
          )}
          <button type="button" class="danger" disabled={isBusy} onClick={() => setReason('')}>
            Deny…
          </button>
          {children}
        </>
      ) : (
        <form
          class="deny"
          onSubmit={(event) => {
            event.preventDefault();
            answer('deny');
          }}
        >
          <input
            value={reason}
            maxLength={1000}
            aria-label="Reason, which the agent reads"
            placeholder="Reason for the agent (optional)"
            ref={(element) => element?.focus()}
            onInput={(event) => setReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') setReason(undefined);
            }}
          />
          <button type="submit" class="danger" disabled={isBusy}>
            Deny
          </button>
          <button type="button" class="quiet" onClick={() => setReason(undefined)}>
            Back
          </button>
        </form>
      )}
      {left !== null && left < 86_400_000 && <span class="muted end">expires in {duration(Math.max(1000, left))}</span>}
    </div>
  );
};
