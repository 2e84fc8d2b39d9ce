import { deny, type ApprovalDecision, type ObserveHandlers, type OperatorContext, type TurnEventOf } from '@h/turn';
import { isChildQuestion } from '../child/child-question.js';

/** Requests approval before calls run, once for each call. */
export class Consent {
  readonly #context: OperatorContext;
  /** Calls by the ids of their approval requests. */
  readonly #asked = new Map<string, string>();
  readonly #approvedCalls = new Set<string>();
  readonly #approvedTools = new Set<string>();
  readonly #waiting = new Map<string, (decision: ApprovalDecision) => void>();

  constructor(context: OperatorContext) {
    this.#context = context;
  }

  readonly observe: ObserveHandlers = {
    'approval.request': ({ id, call, annotations }) => {
      if (call && !isChildQuestion(annotations)) this.#asked.set(id, call.id);
    },
    'approval.answer': (event) => {
      const call = this.#asked.get(event.id);
      this.#asked.delete(event.id);
      if (call !== undefined && event.decision !== 'deny') this.#approvedCalls.add(call);
      this.#waiting.get(event.id)?.(event);
    },
    'tool.result': ({ call }) => void this.#approvedCalls.delete(call.id),
  };

  /** Returns `undefined` if a person has approved the call before; otherwise holds the call until it is answered. */
  ask(event: TurnEventOf<'tool.call'>): Promise<TurnEventOf<'tool.call'>> | undefined {
    const { call, turn } = event;
    if (this.#approvedCalls.has(call.id) || this.#approvedTools.has(call.name)) return undefined;
    const id = `policy-guard/${turn}/${call.id}`;
    const answer = new Promise<ApprovalDecision>((resolve) => void this.#waiting.set(id, resolve));
    this.#asked.set(id, call.id);
    this.#context.emit({
      type: 'approval.request',
      id,
      reason: `The agent may use ${call.name} only with approval.`,
      call,
    });
    return answer.then(({ decision, reason }) => {
      this.#waiting.delete(id);
      if (decision === 'deny') {
        return deny(event, reason ?? `The use of ${call.name} was not approved.`, 'policy-guard');
      }
      if (decision !== 'once') this.#approvedTools.add(call.name);
      return event;
    });
  }
}
