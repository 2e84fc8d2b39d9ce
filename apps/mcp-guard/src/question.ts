import { visibleText } from '@h/options';
import type { ApprovalDecision, TurnEventOf } from '@h/turn';

/** A call that waits for the decision of a person. */
export type Question = TurnEventOf<'approval.request'>;

/** The choices of a person. `always` covers exactly the same call. */
export const choices = ['once', 'always', 'deny'] as const;

export const choiceLabels = {
  once: 'Allow once',
  always: 'Always allow this exact call',
  deny: 'Deny',
} as const satisfies Record<(typeof choices)[number], string>;

/** The form that a client shows to its user. */
export const questionForm = (question: Question) => ({
  message: questionText(question),
  requestedSchema: {
    type: 'object' as const,
    properties: {
      decision: {
        type: 'string' as const,
        title: 'Decision',
        oneOf: choices.map((choice) => ({ const: choice, title: choiceLabels[choice] })),
      },
    },
    required: ['decision'],
  },
});

/** The question in words, with the whole call: a person cannot decide about what is not shown. */
export const questionText = ({ call, reason }: Question): string =>
  visibleText(
    call === undefined
      ? reason
      : `Allow the call ${call.name}?\n${reason}\n\n${JSON.stringify(call.input, undefined, 1) ?? ''}`,
  );

/** Returns the decision in the answer of a client. Anything but a choice denies. */
export const decisionIn = (answer: unknown): ApprovalDecision => {
  const { action, content } = (answer ?? {}) as { readonly action?: unknown; readonly content?: unknown };
  const { decision } = (content ?? {}) as { readonly decision?: unknown };
  const choice = action === 'accept' ? choices.find((known) => known === decision) : undefined;
  return { decision: choice ?? 'deny', ...(choice === undefined && { reason: 'The user did not allow the call.' }) };
};

const unanswered = { decision: 'deny', reason: 'The question expired without an answer.' } as const;

/** Asks a person. The signal withdraws the question: it has expired, or the call has ended. */
export type Approve = (question: Question, signal: AbortSignal) => Promise<ApprovalDecision>;

/** Asks a person, until the question expires or the call ends. */
export const decisionOn = async (
  question: Question,
  approve: Approve,
  signal: AbortSignal,
): Promise<ApprovalDecision> => {
  const { at, expiresAt = at } = question;
  const withdrawn = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, expiresAt - at))]);
  const expired = new Promise<ApprovalDecision>((resolve) => {
    withdrawn.addEventListener('abort', () => resolve(unanswered), { once: true });
  });
  const asked = approve(question, withdrawn).catch((error: unknown): ApprovalDecision => {
    if (withdrawn.aborted) return unanswered;
    throw error;
  });
  return Promise.race([asked, expired]);
};
