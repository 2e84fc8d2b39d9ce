import { checkOperators, type HostEvents, type OperatorCheck } from '@h/bridge';
import type { PipelineOperator, TurnEventType } from '@h/turn';
import { mayDecide } from '@h/turn/bridge';

/** The events of a turn in Claude Code. */
export const hookEvents: HostEvents = {
  'model.request': {
    support: 'limited',
    as: '`UserPromptSubmit`, `PostToolBatch`: it can be stopped, and `tail` becomes additional context; nothing else can be changed',
  },
  'model.delta': { support: 'none', as: 'hooks do not receive it' },
  'model.response': {
    support: 'limited',
    as: 'observed, without usage: the first call of an answer, or its last text',
  },
  'model.error': { support: 'none', as: 'Claude Code retries its model calls' },
  'tool.call': { support: 'full', as: '`PreToolUse`, also in sub-agents; each call is decided when it arrives' },
  'tool.result': {
    support: 'limited',
    as: '`PostToolUse`; the output of a failed call cannot be changed, only extended (see `failedOutput`)',
  },
  'tool.progress': { support: 'none', as: 'hooks do not receive it' },
  'approval.request': { support: 'full', as: '`canUseTool`, for tool calls' },
  'history.append': {
    support: 'limited',
    as: 'messages of operators become additional context of the next model call',
  },
  'history.replace': { support: 'none', as: 'Claude Code owns its history' },
  'input.received': { support: 'none', as: 'each prompt is a new turn' },
  'turn.continue': { support: 'full', as: '`Stop`, `SubagentStop`: the model receives the message and continues' },
  'turn.stop': { support: 'full', as: '`continue: false` with the reason, before the next model or tool call' },
};

/** Events of which a change has no effect, except that a model request can be stopped. */
const unchangeable: ReadonlySet<TurnEventType> = new Set<TurnEventType>([
  'model.request',
  'model.delta',
  'model.response',
  'model.error',
  'history.append',
  'history.replace',
  'turn.end',
]);

/** Model events of operators that decide about nothing else that a hook can change, also not with `*`. */
const withoutEffect: OperatorCheck['withoutEffect'] = (operator, { decides }) =>
  mayDecide(operator, 'tool.call') || decides.some((type) => !unchangeable.has(type))
    ? []
    : decides.filter((type) => type.startsWith('model.'));

/**
 * Rejects operators whose purpose is to change model requests or answers, which Claude Code makes itself: those that
 * decide about model calls and about nothing that hooks can change.
 *
 * @throws UnsupportedOperatorError unless `partial` is set; a process warning then names the operator
 */
export const checkHookOperators = (operators: readonly PipelineOperator[], partial: boolean): void =>
  checkOperators(operators, {
    owner: 'attach()',
    host: 'the Claude Agent SDK',
    events: hookEvents,
    withoutEffect,
    problem: 'model calls cannot be changed',
    alternative: 'Put the model proxy (apps/model-proxy) between Claude Code and the API, which runs such operators',
    partial,
  });
