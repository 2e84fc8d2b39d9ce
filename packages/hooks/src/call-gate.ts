import type { ErrorInfo, JSONValue, ToolDefinition, TurnEventOf } from '@h/turn';
import { afterTool } from './after-tool.js';
import type { ApprovalDesk } from './approvals/desk.js';
import { denied, judge, passed } from './before-tool.js';
import type { Ruling } from './gates.js';
import { inputCheck } from './input-check.js';
import { chain } from './maybe.js';
import { ownNote } from './own-note.js';
import type { TurnHooks } from './turn-hooks.js';

/** Decides on the tool calls of a turn and on their results. */
export class CallGate {
  readonly #hooks: TurnHooks;
  readonly #desk: ApprovalDesk;
  readonly #otherwise: 'allow' | 'ask' | 'deny';
  readonly #inputs = inputCheck();
  /** Context that is added to the result of a call, by the id of the call. */
  #contexts: Map<string, readonly string[]> | undefined;

  constructor(hooks: TurnHooks, desk: ApprovalDesk, otherwise: 'allow' | 'ask' | 'deny') {
    this.#hooks = hooks;
    this.#desk = desk;
    this.#otherwise = otherwise;
  }

  offered(tools: readonly ToolDefinition[]): void {
    this.#inputs.offered(tools);
  }

  observeCall({ call, annotations }: TurnEventOf<'tool.call'>): void {
    const note = ownNote(annotations?.['hooks'], 'context');
    if (note !== undefined) (this.#contexts ??= new Map()).set(call.id, textsIn(note));
  }

  observeResult(event: TurnEventOf<'tool.result'>): void {
    const { at, call } = event;
    this.#contexts?.delete(call.id);
    const error = errorOf(event);
    if (error) this.#hooks.watch('onError', at, { source: 'tool', error, call });
  }

  decide(event: TurnEventOf<'tool.call'>): Ruling {
    if (event.denied) return undefined;
    return chain(judge(this.#hooks, event, this.#inputs.check), (judgement): Ruling => {
      if (judgement.denied) return denied(this.#hooks, event, judgement.denied.by, judgement.denied.reason);
      const { call, questions, isAllowed, contexts } = judgement;
      if (questions.length > 0) return this.#desk.ask(event, call, questions, contexts);
      if (isAllowed || this.#otherwise === 'allow') return passed(event, call, contexts);
      if (this.#otherwise === 'deny') {
        return denied(this.#hooks, event, 'hooks', `No rule allows the tool ${call.name}.`);
      }
      return this.#desk.ask(
        event,
        call,
        [{ hook: 'hooks', reason: `The agent wants to use the tool ${call.name}.`, patterns: [] }],
        contexts,
      );
    });
  }

  decideResult(event: TurnEventOf<'tool.result'>): Ruling {
    return afterTool(this.#hooks, event, this.#contexts?.get(event.call.id) ?? []);
  }
}

const errorOf = (event: TurnEventOf<'tool.result'>): ErrorInfo | undefined => {
  if (event.status === 'failed') return event.error;
  if (event.status !== 'timed-out') return undefined;
  return {
    name: 'TimeoutError',
    code: 'tool-timeout',
    message: `The tool ${event.call.name} took longer than ${event.timeoutMs} ms.`,
  };
};

const textsIn = (value: JSONValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
