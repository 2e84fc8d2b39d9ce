import {
  keep,
  notice,
  toErrorInfo,
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
import { chain, isPromise, type Maybe } from '../maybe.js';
import type { TurnHooks } from '../turn-hooks.js';
import { isCovered, rulesIn, ruleText, withRule, type RememberedApproval, type ApprovalStore } from './store.js';

/** How a desk works. */
export interface DeskSettings {
  readonly approvalStore: ApprovalStore | undefined;
  readonly approvalTimeoutMs: number;
}

/** A call that waits for a person. */
interface Waiting {
  readonly event: TurnEventOf<'tool.call'>;
  readonly call: ToolCall;
  readonly hash: string;
  readonly reason: string;
  readonly by: string;
  readonly settle: (answer: ApprovalDecision) => void;
}

/** What became of a request. Only what a person has said counts beyond it. */
interface Settled {
  readonly answer: ApprovalDecision;
  readonly isExpired: boolean;
}

type Ruling = NewEvent | readonly NewEvent[] | undefined;

const maxSessionRules = 200;
const maxTimerMs = 2_147_483_647;

/**
 * Puts questions to people: one request for each call, bound to its name and input. It uses what was answered before: rules
 * that are remembered, and answers that a resumed turn finds in its journal.
 */
export class ApprovalDesk {
  readonly #hooks: TurnHooks;
  readonly #operator: OperatorContext;
  readonly #settings: DeskSettings;
  readonly #waiting = new Map<string, Waiting>();
  /** Answers of a turn that is resumed, by request. */
  readonly #recorded = new Map<string, ApprovalDecision>();
  /** What a person has refused since they last said something, by call. */
  readonly #refused = new Map<string, string>();
  #sessionRules: readonly RememberedApproval[] = [];

  constructor(hooks: TurnHooks, operator: OperatorContext, settings: DeskSettings) {
    this.#hooks = hooks;
    this.#operator = operator;
    this.#settings = settings;
  }

  readonly observe: ObserveHandlers = {
    'session.loaded': ({ state }) => this.#load(state['hooks']),
    'session.state': ({ key, value }) => (key === 'hooks' ? this.#load(value) : undefined),
    'input.received': () => this.#refused.clear(),
    'approval.answer': (event) => {
      const { id, decision, pattern, reason } = event;
      const answer: ApprovalDecision = {
        decision,
        ...(pattern !== undefined && { pattern }),
        ...(reason !== undefined && { reason }),
      };
      if (event.replayed === true) this.#recorded.set(id, answer);
      else this.#waiting.get(id)?.settle(answer);
    },
  };

  /** Has a person decide about a call, unless one has done so already. */
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
    const refusal = this.#refused.get(hash);
    if (refusal !== undefined) return denied(this.#hooks, event, by, refusal);
    const id = `${event.turn}:${call.id}:${hash.slice(0, 16)}`;
    const reason = questions.map(({ reason: why }) => why).join('\n');
    const patterns = [...new Set(questions.flatMap((question) => question.patterns))];
    const rule = (settled: Settled): Maybe<Ruling> =>
      this.#rule({ event, call, hash, reason, by, id }, settled, contexts);
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
      const recorded = this.#recorded.get(id);
      if (recorded) return rule({ answer: recorded, isExpired: false });
      return this.#request({ event, call, hash, reason, by }, id, patterns).then(rule);
    });
  }

  #request(asked: Omit<Waiting, 'settle'>, id: string, patterns: readonly string[]): Promise<Settled> {
    const { approvalTimeoutMs } = this.#settings;
    const { event, call, reason, hash } = asked;
    const expiresAt = this.#operator.now() + approvalTimeoutMs;
    return new Promise((resolve) => {
      const settle = (answer: ApprovalDecision, isExpired = false): void => {
        cancel();
        this.#waiting.delete(id);
        resolve({ answer, isExpired });
      };
      const expire = (): void => {
        const answer: ApprovalDecision = {
          decision: 'deny',
          reason: `The approval request expired after ${Math.round(approvalTimeoutMs / 1000)} s.`,
        };
        this.#operator.emit({ type: 'approval.answer', id, ...answer, annotations: { hooks: { expired: true } } });
        settle(answer, true);
      };
      const cancel = approvalTimeoutMs > maxTimerMs ? () => undefined : this.#operator.after(approvalTimeoutMs, expire);
      this.#waiting.set(id, { ...asked, settle });
      this.#operator.emit({
        type: 'approval.request',
        id,
        reason,
        call: { id: call.id, name: call.name, input: call.input },
        ...(Number.isFinite(approvalTimeoutMs) && { expiresAt }),
        annotations: { hooks: { hash, patterns } },
      });
      this.#hooks.watch('onApproval', event.at, { phase: 'requested', id, reason, call });
    });
  }

  #rule(
    asked: Omit<Waiting, 'settle'> & { readonly id: string },
    { answer, isExpired }: Settled,
    contexts: readonly string[],
  ): Maybe<Ruling> {
    const { event, call, hash, reason: question, by, id } = asked;
    this.#hooks.watch('onApproval', event.at, {
      phase: isExpired ? 'expired' : 'answered',
      id,
      reason: question,
      call,
      answer,
    });
    const kind = isExpired ? 'expired' : answer.decision === 'deny' ? 'refused' : 'approved';
    this.#hooks.decided(event.at, { kind, callId: call.id, reason: answer.reason });
    if (answer.decision === 'deny') {
      const reason = answer.reason ?? 'The user did not allow it.';
      if (!isExpired) this.#refused.set(hash, reason);
      return denied(this.#hooks, event, by, reason);
    }
    const allowed = passed(event, call, contexts);
    if (answer.decision === 'once') return allowed;
    return chain(this.#remember(answer, { call, hash, at: event.at }), () => allowed);
  }

  /** The rule that covers the call. Rules that cannot be read cover nothing. */
  #remembered(call: ToolCall): Maybe<RememberedApproval | undefined> {
    const own = isCovered(this.#sessionRules, call);
    if (own || this.#settings.approvalStore === undefined) return own;
    const unreadable = (error: unknown): undefined => this.#storeFailed(error);
    try {
      const rules = this.#settings.approvalStore.list();
      return isPromise(rules)
        ? Promise.resolve(rules)
            .then((list) => isCovered(list, call))
            .catch(unreadable)
        : isCovered(rules, call);
    } catch (error) {
      return unreadable(error);
    }
  }

  /** Keeps what the answer covers, and settles what else waits for it. */
  #remember(
    { decision, pattern }: ApprovalDecision,
    { call, hash, at }: { readonly call: ToolCall; readonly hash: string; readonly at: number },
  ): Maybe<void> {
    const rule: RememberedApproval = { tool: call.name, ...(pattern === undefined ? { hash } : { pattern }), at };
    const keepInSession = (): void => {
      this.#sessionRules = withRule(this.#sessionRules, rule, maxSessionRules);
      this.#operator.emit(keep('hooks', { rules: this.#sessionRules } as unknown as JSONValue));
      this.#settleCovered(rule);
    };
    const { approvalStore } = this.#settings;
    if (decision !== 'always' || approvalStore === undefined) return keepInSession();
    const failed = (error: unknown): void => {
      this.#storeFailed(error);
      keepInSession();
    };
    try {
      const added = approvalStore.add(rule);
      if (!isPromise(added)) return this.#settleCovered(rule);
      return Promise.resolve(added).then(() => this.#settleCovered(rule), failed);
    } catch (error) {
      return failed(error);
    }
  }

  /** One answer for several questions: what waits and is covered by the new rule need not be asked again. */
  #settleCovered(rule: RememberedApproval): void {
    for (const [id, { call, settle }] of this.#waiting) {
      if (isCovered([rule], call) === undefined) continue;
      const answer: ApprovalDecision = {
        decision: 'once',
        reason: `Covered by ${ruleText(rule)}, which was allowed meanwhile.`,
      };
      this.#operator.emit({ type: 'approval.answer', id, ...answer });
      settle(answer);
    }
  }

  #storeFailed(error: unknown): undefined {
    this.#hooks.tell(notice('approval.store-failed', { error: toErrorInfo(error) }));
    return undefined;
  }

  #load(value: JSONValue | undefined): void {
    this.#sessionRules = (rulesIn(value) ?? []).slice(-maxSessionRules);
  }
}
