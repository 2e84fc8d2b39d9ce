import { deny, type ApprovalDecision, type NewEvent, type OperatorContext, type TurnEventOf } from '@h/turn';
import type { CheckedGitOptions } from './options.js';

/** Requests an approval for each push of a turn. */
export interface PushApprovals {
  /** Holds a call until it is answered; returns `undefined` if it needs no approval. */
  ask(event: TurnEventOf<'tool.call'>, session: string): Promise<NewEvent> | undefined;
  /** Remembers an answer, and the approval of a session with it. */
  answered(event: TurnEventOf<'approval.answer'>, session: string): void;
}

const idPrefix = (turn: string): string => `git-push:${turn}:`;

/** Emits `approval.request` and waits for `approval.answer` up to the time limit. */
export const pushApprovals = (
  { repository, requireApproval, approvalTimeoutMs }: CheckedGitOptions,
  context: OperatorContext,
): PushApprovals => {
  /** Answers by request. `observe` writes them, so a resumed turn has them, too. */
  const answers = new Map<string, ApprovalDecision>();
  const waiting = new Map<string, (answer: ApprovalDecision) => void>();

  const decided = (event: TurnEventOf<'tool.call'>, { decision, reason }: ApprovalDecision): NewEvent => {
    if (decision === 'deny') return deny(event, reason ?? 'The push was not approved.', 'git');
    repository.pushes.approve(event.turn, event.call.id);
    return event;
  };

  const answerTo = (id: string): Promise<ApprovalDecision> =>
    new Promise((resolve) => {
      const cancel = context.after(approvalTimeoutMs, () => {
        waiting.delete(id);
        resolve({ decision: 'deny', reason: 'The push was not approved within the time limit.' });
      });
      waiting.set(id, (answer) => {
        cancel();
        waiting.delete(id);
        resolve(answer);
      });
    });

  return {
    ask: (event, session) => {
      if (!requireApproval || event.denied !== undefined) return undefined;
      if (repository.pushes.isSessionApproved(session)) {
        return Promise.resolve(decided(event, { decision: 'once' }));
      }
      const id = `${idPrefix(event.turn)}${event.call.id}`;
      const known = answers.get(id);
      if (known !== undefined) return Promise.resolve(decided(event, known));
      const answer = answerTo(id).then((given) => decided(event, given));
      const expiresAt = context.now() + approvalTimeoutMs;
      context.emit({
        type: 'approval.request',
        id,
        reason: 'The agent wants to push its branch.',
        call: event.call,
        expiresAt,
      });
      return answer;
    },
    answered: ({ id, turn, decision, pattern, reason }, session) => {
      if (!id.startsWith(idPrefix(turn))) return;
      const answer = { decision, pattern, reason };
      answers.set(id, answer);
      if (decision === 'session' || decision === 'always') repository.pushes.approveSession(session);
      waiting.get(id)?.(answer);
    },
  };
};
