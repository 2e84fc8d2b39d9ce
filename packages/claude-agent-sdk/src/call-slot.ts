import type { ToolCall, TurnEventOf } from '@h/turn';
import { isDeepStrictEqual } from 'node:util';
import type { CallDecision } from './hook-decisions.js';
import { Mailbox } from './mailbox.js';

/** A tool call of the current step. */
export class CallSlot {
  readonly call: ToolCall;
  readonly decisions = new Mailbox<CallDecision>();
  readonly results = new Mailbox<TurnEventOf<'tool.result'> | undefined>();
  /** The call as operators allowed it. */
  allowed: ToolCall | undefined;
  result: TurnEventOf<'tool.result'> | undefined;

  constructor(call: ToolCall) {
    this.call = call;
  }

  /** What operators decided about the call with this input. */
  judged(input: unknown): 'allowed' | 'not-allowed' | 'other-input' {
    if (!this.allowed) return 'not-allowed';
    // Claude Code adds defaults of the tool to the input of an operator.
    const isSame = this.allowed.input === this.call.input ? isDeepStrictEqual : hasMembers;
    return isSame(input, this.allowed.input) ? 'allowed' : 'other-input';
  }
}

/** Whether a value is an object with all members of another one. */
const hasMembers = (value: unknown, members: unknown): boolean =>
  typeof value === 'object' && isDeepStrictEqual({ ...value, ...(members as object) }, value);
