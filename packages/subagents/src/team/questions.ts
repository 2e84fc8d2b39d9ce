import type { ApprovalDecision, TurnEventOf } from '@h/turn';
import { askedBy } from '../child/child-question.js';
import type { Child } from './family.js';
import type { ChildQuestion } from '../child/kind.js';
import type { ParentTurn, Question } from './parent-turn.js';
import { infoOf } from '../child/run-child.js';
import { tell } from './tell.js';

/**
 * Forwards an approval request of a sub-agent to its parent's turn, and from there to the top. If the parent has no
 * turn, the app receives the request; without a handler it is denied.
 */
export const ask = (
  child: Child,
  request: TurnEventOf<'approval.request'>,
  turn: ParentTurn | undefined,
  onApproval: ((question: ChildQuestion) => void) | undefined,
): void => {
  const { id, agent } = child.record;
  const answer = (decision: ApprovalDecision): boolean => child.agent?.answer(request.id, decision) ?? false;
  const elsewhere = (): void => {
    if (onApproval) {
      tell(
        () => onApproval({ child: infoOf(child), request, answer }),
        () => answer(nobody),
      );
    } else answer(nobody);
  };
  if (!turn || turn.isOver) {
    elsewhere();
    return;
  }
  const { call, expiresAt, reason } = request;
  const inTurn = `${id}/${request.id}`;
  turn.questions.set(inTurn, { child: id, answer, elsewhere });
  turn.emit({
    type: 'approval.request',
    id: inTurn,
    reason: `Sub-agent ${agent} (${id}): ${reason}`,
    annotations: askedBy(id),
    ...(call && { call }),
    ...(expiresAt !== undefined && { expiresAt }),
  });
};

/** The user has answered in the parent's turn. */
export const answered = (turn: ParentTurn, { id, decision, pattern, reason }: TurnEventOf<'approval.answer'>): void => {
  const question = turn.questions.get(id);
  turn.questions.delete(id);
  question?.answer({ decision, ...(pattern !== undefined && { pattern }), ...(reason !== undefined && { reason }) });
};

/** Withdraws the requests of a sub-agent that has ended or was answered elsewhere. */
export const withdraw = (
  turn: ParentTurn | undefined,
  isMeant: (id: string, question: Question) => boolean,
  { decision, reason }: ApprovalDecision = { decision: 'deny', reason: 'The sub-agent has ended.' },
): void => {
  for (const [id, question] of turn?.questions ?? []) {
    if (!isMeant(id, question)) continue;
    turn?.questions.delete(id);
    turn?.emit({ type: 'approval.answer', id, decision, ...(reason !== undefined && { reason }) });
  }
};

/** Forwards open requests to `onApproval` after the parent's turn has ended. */
export const moveOn = (turn: ParentTurn): void => {
  const open = [...turn.questions.values()];
  turn.questions.clear();
  for (const question of open) question.elsewhere();
};

const nobody: ApprovalDecision = {
  decision: 'deny',
  reason: 'The parent agent has no running turn, so the request was denied.',
};
