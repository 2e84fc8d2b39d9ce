import {
  isPromise,
  keep,
  notice,
  toErrorInfo,
  TurnError,
  type ApprovalDecision,
  type JSONValue,
  type NewEvent,
  type ObserveHandlers,
  type OperatorContext,
  type ToolCall,
  type TurnEventOf,
} from '@h/turn';
import { denied, passed, type Question } from '../before-tool.js';
import { hashCall } from './subject.js';
import { chain, type Maybe } from '../maybe.js';
import { ownNote } from '../own-note.js';
import type { TurnHooks } from '../turn-hooks.js';
import { coveringRule, rulesIn, ruleText, withRule, type RememberedApproval, type ApprovalStore } from './store.js';

/** Settings of an {@link ApprovalDesk}. */
export interface DeskSettings {
  readonly approvalStore: ApprovalStore | undefined;
  readonly approvalTimeoutMs: number;
  readonly gateTimeoutMs: number;
}

/** A call that waits for an approval. */
interface HeldCall {
  readonly event: TurnEventOf<'tool.call'>;
  readonly call: ToolCall;
  readonly hash: string;
  readonly reason: string;
  readonly by: string;
}

/** An approval request without an answer. */
interface Pending {
  readonly call: ToolCall;
  readonly settle: (settled: Settled) => void;
}

interface Settled {
  readonly answer: ApprovalDecision;
  /** Whether the request expired. Such a denial applies to this request only. */
  readonly isExpired: boolean;
}

/** An observed approval request of the turn. Requests of this operator have a hash. */
interface ObservedRequest {
  readonly reason: string;
  readonly call: ToolCall | undefined;
  readonly hash: string | undefined;
  readonly settled?: Settled | undefined;
}

/** The reason for the model if the user gives none. */
const refusal = 'The user did not allow it.';

type Ruling = NewEvent | readonly NewEvent[] | undefined;

const maxSessionRules = 200;

/**
 * Requests one approval for each call, bound to its name and input. Earlier answers apply first: stored rules, and the
 * answers in the journal of a resumed turn.
 */
export class ApprovalDesk {
  readonly #hooks: TurnHooks;
  readonly #operator: OperatorContext;
  readonly #settings: DeskSettings;
  /** Open requests by id. */
  #pending: Map<string, Pending> | undefined;
  /** Requests of the turn by id, written by `observe` only. */
  #requests: Map<string, ObservedRequest> | undefined;
  /** Reasons of denials since the last message of the user, by the hash of the call. */
  #refused: Map<string, string> | undefined;
  #sessionRules: readonly RememberedApproval[] = [];

  constructor(hooks: TurnHooks, operator: OperatorContext, settings: DeskSettings) {
    this.#hooks = hooks;
    this.#operator = operator;
    this.#settings = settings;
  }

  readonly observe: ObserveHandlers = {
    'session.loaded': ({ state }) => this.#load(state['hooks']),
    'session.state': ({ key, value }) => (key === 'hooks' ? this.#load(value) : undefined),
    'input.received': () => this.#refused?.clear(),
    'approval.request': ({ id, at, reason, call, annotations }) => {
      const hash = ownNote(annotations?.['hooks'], 'hash');
      (this.#requests ??= new Map()).set(id, { reason, call, hash: typeof hash === 'string' ? hash : undefined });
      this.#hooks.watch('onApproval', at, { phase: 'requested', id, reason, ...(call && { call }) });
    },
    'approval.answer': (event) => this.#observeAnswer(event),
  };

  #observeAnswer({ id, at, decision, pattern, reason: why, annotations }: TurnEventOf<'approval.answer'>): void {
    const request = this.#requests?.get(id);
    if (request === undefined || request.settled) return;
    const answer: ApprovalDecision = {
      decision,
      ...(pattern !== undefined && { pattern }),
      ...(why !== undefined && { reason: why }),
    };
    const settled = { answer, isExpired: ownNote(annotations?.['hooks'], 'expired') === true };
    const { reason, call, hash } = request;
    this.#requests?.set(id, { ...request, settled });
    if (hash !== undefined && decision === 'deny' && !settled.isExpired) {
      (this.#refused ??= new Map()).set(hash, why ?? refusal);
    }
    const phase = settled.isExpired ? 'expired' : 'answered';
    this.#hooks.watch('onApproval', at, { phase, id, reason, answer, ...(call && { call }) });
    this.#pending?.get(id)?.settle(settled);
  }

  /** Requests approval for a call unless an earlier answer covers it. */
  ask(
    event: TurnEventOf<'tool.call'>,
    call: ToolCall,
    questions: readonly Question[],
    contexts: readonly string[],
  ): Maybe<Ruling> {
    const by = questions[0]?.hook ?? 'hooks';
    const hash = hashCall(call);
    if (hash === undefined) {
      return denied(this.#hooks, event, by, 'This call cannot be approved, because its input is not valid JSON.');
    }
    const id = `${event.turn}:${call.id}:${hash.slice(0, 16)}`;
    const refused = this.#refused?.get(hash);
    const recorded = this.#requests?.get(id)?.settled;
    if (refused !== undefined && recorded === undefined) return denied(this.#hooks, event, by, refused);
    const reason = questions.map(({ reason: why }) => why).join('\n');
    const patterns = [...new Set(questions.flatMap((question) => question.patterns))];
    const held: HeldCall = { event, call, hash, reason, by };
    if (recorded) return this.#rule(held, recorded, contexts);
    return chain(this.#remembered(call), (covering) => {
      if (covering) {
        const remembered = { callId: call.id, rule: ruleText(covering) };
        this.#hooks.decided(
          event.at,
          { kind: 'remembered', callId: call.id, reason: remembered.rule },
          notice('approval.remembered', remembered),
        );
        return passed(event, call, contexts);
      }
      return this.#request(held, id, patterns).then((settled) => this.#rule(held, settled, contexts));
    });
  }

  #request({ call, reason, hash }: HeldCall, id: string, patterns: readonly string[]): Promise<Settled> {
    const approvalTimeoutMs = Math.min(this.#settings.approvalTimeoutMs, this.#operator.timeLeft());
    const expiresAt = this.#operator.now() + approvalTimeoutMs;
    return new Promise((resolve) => {
      const expire = (): void => {
        const expiry = `The approval request expired after ${Math.round(approvalTimeoutMs / 1000)} s.`;
        this.#answer(id, { decision: 'deny', reason: expiry }, true);
      };
      const cancel = this.#operator.after(approvalTimeoutMs, expire);
      const settle = (settled: Settled): void => {
        cancel();
        this.#pending?.delete(id);
        resolve(settled);
      };
      (this.#pending ??= new Map()).set(id, { call, settle });
      this.#operator.emit({
        type: 'approval.request',
        id,
        reason,
        call: { id: call.id, name: call.name, input: call.input },
        ...(Number.isFinite(approvalTimeoutMs) && { expiresAt }),
        annotations: { hooks: { hash, patterns } },
      });
    });
  }

  /** Emits the answer to a request. The answer takes effect when this operator observes it. */
  #answer(id: string, answer: ApprovalDecision, isExpired = false): void {
    this.#operator.emit({
      type: 'approval.answer',
      id,
      ...answer,
      ...(isExpired && { annotations: { hooks: { expired: true } } }),
    });
  }

  #rule(
    { event, call, hash, by }: HeldCall,
    { answer, isExpired }: Settled,
    contexts: readonly string[],
  ): Maybe<Ruling> {
    const kind = isExpired ? 'expired' : answer.decision === 'deny' ? 'refused' : 'approved';
    this.#hooks.decided(event.at, { kind, callId: call.id, reason: answer.reason });
    if (answer.decision === 'deny') return denied(this.#hooks, event, by, answer.reason ?? refusal);
    const allowed = passed(event, call, contexts);
    if (answer.decision === 'once') return allowed;
    return chain(this.#remember(answer, { call, hash, at: event.at }), () => allowed);
  }

  /** Returns the rule that covers the call; `undefined` if there is none, or if the store fails. */
  #remembered(call: ToolCall): Maybe<RememberedApproval | undefined> {
    const own = coveringRule(this.#sessionRules, call);
    if (own || this.#settings.approvalStore === undefined) return own;
    const unreadable = (error: unknown): undefined => this.#storeFailed(error);
    try {
      const rules = this.#settings.approvalStore.list(this.#hooks.session);
      return isPromise(rules)
        ? this.#withinLimit(rules, 'list')
            .then((list) => coveringRule(list, call))
            .catch(unreadable)
        : coveringRule(rules, call);
    } catch (error) {
      return unreadable(error);
    }
  }

  /** Stores the rule of an answer, and answers the pending requests that it covers. */
  #remember(
    { decision, pattern }: ApprovalDecision,
    { call, hash, at }: { readonly call: ToolCall; readonly hash: string; readonly at: number },
  ): Maybe<void> {
    const rule: RememberedApproval = { tool: call.name, ...(pattern === undefined ? { hash } : { pattern }), at };
    const keepInSession = (): void => {
      const rules = withRule(this.#sessionRules, rule, maxSessionRules);
      if (rules !== this.#sessionRules) {
        // Further answers may arrive before the new state is observed.
        this.#sessionRules = rules;
        this.#operator.emit(keep('hooks', { rules } as unknown as JSONValue));
      }
      this.#settleCovered(rule);
    };
    const { approvalStore } = this.#settings;
    if (decision !== 'always' || approvalStore === undefined) return keepInSession();
    const failed = (error: unknown): void => {
      this.#storeFailed(error);
      keepInSession();
    };
    try {
      const added = approvalStore.add(rule, this.#hooks.session);
      if (!isPromise(added)) return this.#settleCovered(rule);
      return this.#withinLimit(added, 'add').then(() => this.#settleCovered(rule), failed);
    } catch (error) {
      return failed(error);
    }
  }

  /** Answers the pending requests that a new rule covers. */
  #settleCovered(rule: RememberedApproval): void {
    for (const [id, { call }] of this.#pending ?? []) {
      if (coveringRule([rule], call) === undefined) continue;
      this.#answer(id, { decision: 'once', reason: `Covered by ${ruleText(rule)}, which was allowed meanwhile.` });
    }
  }

  /** Limits the time of a call of the store, because a call that never settles must not block the turn. */
  #withinLimit<Value>(value: PromiseLike<Value>, method: 'list' | 'add'): Promise<Value> {
    const { gateTimeoutMs } = this.#settings;
    return new Promise((resolve, reject) => {
      const cancel = this.#operator.after(gateTimeoutMs, () =>
        reject(
          new TurnError(
            'approval-store',
            `${method}() of the approval store did not settle within ${gateTimeoutMs} ms.`,
          ),
        ),
      );
      Promise.resolve(value).finally(cancel).then(resolve, reject);
    });
  }

  #storeFailed(error: unknown): undefined {
    this.#hooks.tell(notice('approval.store-failed', { error: toErrorInfo(error) }));
    return undefined;
  }

  #load(value: JSONValue | undefined): void {
    this.#sessionRules = (rulesIn(value) ?? []).slice(-maxSessionRules);
  }
}
