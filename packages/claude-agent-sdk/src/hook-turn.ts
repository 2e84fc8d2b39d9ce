import { denyCanary } from '@h/bridge';
import {
  MessageList,
  noUsage,
  textOf,
  toErrorInfo,
  type AssistantPart,
  type ErrorInfo,
  type JSONValue,
  type Message,
  type NewEvent,
  type PipelineOperator,
  type ToolCall,
  type ToolOutcome,
  type ToolResultPart,
  type TurnEnding,
  type TurnEvent,
  type TurnEventOf,
  type UserMessage,
} from '@h/turn';
import { connect, type Connection } from '@h/turn/bridge';
import { CallSlot } from './call-slot.js';
import type { CallDecision, EndDecision, StepDecision } from './hook-decisions.js';
import { Mailbox } from './mailbox.js';
import { textOf as textOfOutput } from './tool-output.js';

/** A finished call of a step, as Claude Code lists it. */
export interface BatchCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly text: string;
}

export interface HookTurnOptions {
  readonly session: string;
  readonly operators: readonly PipelineOperator[];
  readonly input: readonly UserMessage[];
  readonly trigger: string;
  /** Values that operators stored in earlier turns. They are updated in place. */
  readonly state: Map<string, JSONValue>;
  /** A model request has left with changes that Claude Code cannot apply. */
  readonly onLostChange: (members: readonly string[]) => void;
  /** An operator has stopped the turn. */
  readonly onStop: (ending: TurnEnding) => void;
}

/**
 * One prompt of Claude Code, or one run of a sub-agent, as a turn.
 *
 * Claude Code calls its model itself, so requests and answers are facts here: a request is fed when its model call is
 * about to begin, an answer when its first call arrives. Calls arrive one at a time and are decided one at a time.
 */
export class HookTurn {
  readonly ended: Promise<TurnEnding>;
  readonly #options: HookTurnOptions;
  readonly #connection: Connection;
  readonly #slots = new Map<string, CallSlot>();
  readonly #steps = new Mailbox<StepDecision>();
  readonly #ends = new Mailbox<EndDecision>();
  readonly #context: string[] = [];
  /** What to do when an event has left that this class has fed. */
  readonly #next = new Map<string, () => void>();
  #messages = MessageList.empty;
  #step = 0;
  #calls = 0;
  /** The answer of the step: not known, in the operators, or left. */
  #answer: 'none' | 'entered' | 'left' = 'none';
  /** Calls that wait until the answer has left. */
  readonly #heldCalls: NewEvent[] = [];
  #isCompleting = false;
  #ending: TurnEnding | undefined;
  #isClosed = false;
  #settle!: (ending: TurnEnding) => void;

  constructor(options: HookTurnOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#connection = connect([denyCanary, ...options.operators], {
      // oxlint-disable-next-line h/no-clock -- ids of turns must be unique and nothing else depends on them
      turn: crypto.randomUUID(),
      accepts: (event) => this.#accepts(event),
      onEvent: (event) => this.#take(event),
      onError: (error) => this.fail(toErrorInfo(error)),
    });
  }

  /** How the turn ends or has ended, once that is decided. */
  get ending(): TurnEnding | undefined {
    return this.#ending;
  }

  /** Starts the turn. Resolves with the decision about its first model call. */
  begin(): Promise<StepDecision> {
    const { session, input, trigger } = this.#options;
    this.#feed({ type: 'turn.start', session, input, trigger });
    return this.#steps.take();
  }

  /** Decides about a tool call of the model. */
  call(id: string, name: string, input: unknown): Promise<CallDecision> {
    if (this.#ending) return Promise.resolve({ type: 'stopped', ending: this.#ending });
    const slot = new CallSlot({ id, name, input });
    this.#slots.set(id, slot);
    const event = { type: 'tool.call', step: this.#step, index: this.#calls, call: slot.call } as const;
    this.#calls += 1;
    if (this.#answer === 'left') {
      this.#feed(event);
    } else {
      this.#heldCalls.push(event);
      if (this.#answer === 'none') this.#respond([toolCallPart(slot.call)], 'tool-calls');
    }
    return slot.decisions.take();
  }

  /** What operators decided about a call with this input; `undefined` if this turn does not know the call. */
  judged(id: string, input: unknown): ReturnType<CallSlot['judged']> | undefined {
    return this.#slots.get(id)?.judged(input);
  }

  /** Answers an approval request and resolves with the next decision about its call. */
  async answer(
    id: string,
    answer: Omit<TurnEventOf<'approval.answer'>, 'type' | 'turn' | 'at'>,
  ): Promise<CallDecision> {
    const slot = this.#slots.get(id);
    if (this.#ending || !slot) return { type: 'stopped', ending: this.#ending ?? cancelled };
    this.#feed({ type: 'approval.answer', ...answer });
    return slot.decisions.take();
  }

  /** Passes the outcome of a call through the operators. Resolves with `undefined` if none of them let it pass. */
  result(id: string, name: string, input: unknown, outcome: ToolOutcome): Promise<ToolOutcome | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    const slot = this.#slots.get(id) ?? new CallSlot({ id, name, input });
    this.#slots.set(id, slot);
    if (slot.result) return Promise.resolve(slot.result);
    this.#feed({ type: 'tool.result', step: this.#step, call: slot.call, ...outcome });
    return slot.results.take();
  }

  /** Ends a step and decides about the model call of the next one. */
  async nextStep(calls: readonly BatchCall[]): Promise<StepDecision> {
    // Calls with an invalid input and of unknown tools fail before a hook runs.
    const unseen = calls.filter(({ id }) => this.#slots.get(id)?.result === undefined);
    await Promise.all(unseen.map(({ id, name, input, text }) => this.result(id, name, input, failed(text))));
    if (this.#ending) return { type: 'stopped', ending: this.#ending };
    const parts = calls.map(toolCallPart);
    const results = calls.map(({ id, name, text }): ToolResultPart => {
      const output = this.#slots.get(id)?.result?.output ?? { type: 'text', value: text };
      return { type: 'tool-result', toolCallId: id, toolName: name, output };
    });
    this.#append('response', [{ role: 'assistant', content: parts }], () =>
      this.#append('results', [{ role: 'tool', content: results }], () => this.#request()),
    );
    return this.#steps.take();
  }

  /** Decides about the end of the turn after the last answer of the model. */
  complete(text: string): Promise<EndDecision> {
    if (this.#ending) return Promise.resolve({ type: 'ended', ending: this.#ending });
    const content: readonly AssistantPart[] = text === '' ? [] : [{ type: 'text', text }];
    const finish = (): void =>
      this.#append('response', [{ role: 'assistant', content }], () => {
        this.#isCompleting = true;
        this.#feed({ type: 'turn.stop', outcome: 'completed', afterStep: this.#step });
      });
    if (this.#answer === 'none') {
      this.#next.set('model.response', finish);
      this.#respond(content, 'stop');
    } else {
      finish();
    }
    return this.#ends.take();
  }

  /** Resolves with the decision about the model call that follows a continued turn. */
  continued(): Promise<StepDecision> {
    return this.#steps.take();
  }

  /** Ends the turn without asking operators, because Claude Code has ended it. */
  cancel(reason: string): void {
    if (!this.#ending) this.#end({ outcome: 'cancelled', reason });
  }

  /** Ends the turn with an error: nothing may pass any more. */
  fail(error: ErrorInfo): void {
    if (this.#ending) return this.close();
    this.#end({ outcome: 'error', reason: error.message, error });
    // After a failure, the end of the turn may never leave.
    return queueMicrotask(() => this.close());
  }

  /** Stops the operators. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#settleAll(this.#ending ?? cancelled);
    this.#connection.close();
    this.#settle(this.#ending ?? cancelled);
  }

  #accepts(event: TurnEvent): boolean {
    if (this.#isClosed) return false;
    if (event.type === 'turn.continue') return this.#isCompleting && !this.#ending;
    return event.type !== 'turn.stop' || !this.#ending;
  }

  #take(event: TurnEvent): void {
    switch (event.type) {
      case 'turn.start':
        return this.#open();
      case 'session.loaded':
        return this.#proceed(event.type);
      case 'model.request':
        return this.#requested(event);
      case 'model.response':
        return this.#answered();
      case 'tool.call':
        return this.#decided(event);
      case 'tool.result':
        return this.#resulted(event);
      case 'approval.request':
        return this.#asked(event);
      case 'history.append':
        return this.#appended(event);
      case 'session.state':
        return this.#keep(event);
      case 'turn.continue':
        return this.#continue(event);
      case 'turn.stop':
        return this.#end({ outcome: event.outcome, reason: event.reason, error: event.error });
      case 'turn.end':
        return this.close();
      default:
    }
  }

  #open(): void {
    const { session, input, state } = this.#options;
    this.#next.set('session.loaded', () =>
      input.length > 0 ? this.#append('input', input, () => this.#request()) : this.#request(),
    );
    this.#feed({
      type: 'session.loaded',
      session,
      messages: MessageList.empty,
      state: Object.fromEntries(state),
      repairs: [],
    });
  }

  /** Runs what waits for the event with this name. */
  #proceed(name: string): void {
    const next = this.#next.get(name);
    this.#next.delete(name);
    if (!this.#ending) next?.();
  }

  #request(): void {
    this.#step += 1;
    this.#calls = 0;
    this.#answer = 'none';
    this.#slots.clear();
    const request = { messages: this.#messages, ...emptyRequest };
    this.#feed({ type: 'model.request', step: this.#step, attempt: 1, ...request });
  }

  #requested(event: TurnEventOf<'model.request'>): void {
    const { settings } = event;
    const own = { ...emptyRequest, messages: this.#messages, model: undefined, credential: undefined };
    const lost: string[] = requestMembers.filter((member) => event[member] !== own[member]);
    // Without tools, the request asks for a last answer, and further calls are denied.
    lost.push(...Object.keys(settings).flatMap((key) => (key === 'toolChoice' ? [] : [`settings.${key}`])));
    if (lost.length > 0) this.#options.onLostChange(lost);
    this.#steps.put({ type: 'continue', context: [...this.#context.splice(0), ...textsOf(event.tail)] });
  }

  #respond(content: readonly AssistantPart[], finishReason: 'stop' | 'tool-calls'): void {
    this.#answer = 'entered';
    this.#feed({ type: 'model.response', step: this.#step, attempt: 1, content, finishReason, usage: noUsage });
  }

  #answered(): void {
    this.#answer = 'left';
    for (const call of this.#heldCalls.splice(0)) this.#feed(call);
    this.#proceed('model.response');
  }

  #decided({ call, denied }: TurnEventOf<'tool.call'>): void {
    const slot = this.#slots.get(call.id);
    if (!slot) return;
    if (denied) {
      const { reason, by } = denied;
      this.#feed({
        type: 'tool.result',
        step: this.#step,
        call,
        status: 'denied',
        reason,
        ...(by !== undefined && { by }),
        output: { type: 'execution-denied', reason },
      });
      return;
    }
    slot.allowed = call;
    slot.decisions.put({ type: 'allowed', input: call.input, isChanged: call.input !== slot.call.input });
  }

  #resulted(event: TurnEventOf<'tool.result'>): void {
    const slot = this.#slots.get(event.call.id);
    if (!slot || slot.result) return;
    slot.result = event;
    if (!slot.allowed) slot.decisions.put({ type: 'denied', reason: textOfOutput(event.output) });
    slot.results.put(event);
  }

  #asked(event: TurnEventOf<'approval.request'>): void {
    const slot = event.call && this.#slots.get(event.call.id);
    if (slot) return slot.decisions.put({ type: 'approval', request: event });
    const reason = 'Claude Code asks a person about tool calls only.';
    return this.#feed({ type: 'approval.answer', id: event.id, decision: 'deny', reason });
  }

  #keep({ key, value }: TurnEventOf<'session.state'>): void {
    if (value === null) this.#options.state.delete(key);
    else this.#options.state.set(key, value);
  }

  #continue({ messages }: TurnEventOf<'turn.continue'>): void {
    this.#isCompleting = false;
    this.#ends.put({ type: 'proceed', text: textsOf(messages).join('\n\n') });
    this.#append('continue', messages, () => this.#request());
  }

  #append(origin: string, messages: readonly Message[], next: () => void): void {
    this.#next.set(origin, next);
    this.#feed({ type: 'history.append', messages, origin });
  }

  #appended({ origin, messages }: TurnEventOf<'history.append'>): void {
    this.#messages = this.#messages.append(...messages);
    if (this.#next.has(origin)) this.#proceed(origin);
    else this.#context.push(...textsOf(messages));
  }

  /** Answers open calls and ends the turn. */
  #end(given: TurnEnding): void {
    const reply = given.outcome === 'replied' ? this.#context.join('\n\n') : '';
    const ending = reply === '' ? given : { ...given, reason: reply };
    this.#ending = ending;
    this.#settleAll(ending);
    const { outcome, reason, error } = ending;
    if (outcome !== 'completed' && outcome !== 'cancelled') void this.ended.then(() => this.#options.onStop(ending));
    for (const { call, result } of this.#slots.values()) {
      if (result) continue;
      const why = reason ?? `The turn ended: ${outcome}.`;
      const output = { type: 'error-text', value: why } as const;
      this.#feed({ type: 'tool.result', step: this.#step, call, status: 'cancelled', reason: why, output });
    }
    this.#feed({
      type: 'turn.end',
      outcome,
      ...(reason !== undefined && { reason }),
      ...(error && { error }),
      steps: this.#step,
      usage: noUsage,
    });
  }

  #settleAll(ending: TurnEnding): void {
    this.#steps.put({ type: 'stopped', ending });
    this.#ends.put({ type: 'ended', ending });
    for (const slot of this.#slots.values()) {
      if (!slot.result) slot.decisions.put({ type: 'stopped', ending });
      slot.results.put(slot.result);
    }
  }

  #feed(event: NewEvent): void {
    if (!this.#isClosed) this.#connection.feed(event);
  }
}

const cancelled: TurnEnding = { outcome: 'cancelled', reason: 'The turn was closed.' };

/** Members of a model request that Claude Code builds itself. */
const emptyRequest = Object.freeze({ system: [], tail: [], tools: [], settings: {} });

/** Members whose change is lost, apart from settings. */
const requestMembers = ['system', 'messages', 'tools', 'model', 'credential'] as const;

const textsOf = (messages: readonly Message[]): readonly string[] =>
  messages.map((message) => textOf(message)).filter((text) => text !== '');

const toolCallPart = ({ id, name, input }: Pick<ToolCall, 'id' | 'name' | 'input'>) =>
  ({ type: 'tool-call', toolCallId: id, toolName: name, input }) as const;

const failed = (message: string): ToolOutcome => ({
  status: 'failed',
  error: { name: 'Error', message },
  output: { type: 'error-text', value: message },
});
