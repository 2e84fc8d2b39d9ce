import type { TurnEventOf } from '../contract/events.js';
import { invalidReason } from './ingest.js';
import { toolCallsOf, type Message, type ToolPart } from '../contract/messages.js';
import type { ToolCall, ToolDefinition } from '../contract/tool.js';

/** A tool call of the current step and its progress. */
export interface CallSlot {
  call: ToolCall;
  /** It has left the pipeline, denied or allowed to run. */
  decided: boolean;
  denied: TurnEventOf<'tool.call'>['denied'];
  /** Why its input cannot be used, if it cannot. */
  readonly invalid: string | undefined;
  result: TurnEventOf<'tool.result'> | undefined;
}

/** The tool calls of the current step. Lookups and counts take constant time. */
export class CallSlots implements Iterable<CallSlot> {
  readonly #byId = new Map<string, CallSlot>();
  #undecided = 0;
  #open = 0;
  #openDenied = 0;

  constructor(response?: TurnEventOf<'model.response'>) {
    if (!response) return;
    for (const { toolCallId: id, toolName: name, input } of toolCallsOf({
      role: 'assistant',
      content: response.content,
    })) {
      const invalid = invalidReason(response, id);
      this.#byId.set(id, { call: { id, name, input }, decided: false, denied: undefined, invalid, result: undefined });
    }
    this.#undecided = this.#byId.size;
    this.#open = this.#byId.size;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Whether every call was allowed, denied or answered, so that allowed calls may have run. */
  get areDecided(): boolean {
    return this.#undecided === 0;
  }

  /** Whether every call has its result. */
  get areAnswered(): boolean {
    return this.#open === 0;
  }

  /** Whether a call was denied and has no result yet. */
  get areDenialsOpen(): boolean {
    return this.#openDenied > 0;
  }

  get(id: string): CallSlot | undefined {
    return this.#byId.get(id);
  }

  decide({ call, denied }: TurnEventOf<'tool.call'>): void {
    const slot = this.#byId.get(call.id);
    if (!slot || slot.decided || slot.result) return;
    this.#undecided -= 1;
    if (denied) this.#openDenied += 1;
    slot.decided = true;
    slot.call = call;
    slot.denied = denied;
  }

  answer(result: TurnEventOf<'tool.result'>): void {
    const slot = this.#byId.get(result.call.id);
    if (!slot || slot.result) return;
    if (!slot.decided) this.#undecided -= 1;
    if (slot.denied) this.#openDenied -= 1;
    this.#open -= 1;
    slot.result = result;
  }

  filter(test: (slot: CallSlot) => boolean): readonly CallSlot[] {
    return [...this.#byId.values()].filter(test);
  }

  [Symbol.iterator](): Iterator<CallSlot> {
    return this.#byId.values();
  }
}

/** Returns the calls that may run and have no result yet. */
export const runnable = ({ slots }: { readonly slots: CallSlots }): readonly CallSlot[] =>
  slots.filter((slot) => slot.decided && !slot.denied && !slot.result);

/** Whether a call may run again if it may already have run. */
export const isRepeatable = ({ call }: CallSlot): boolean => call.idempotent === true || call.effect === 'read-only';

/** The results of a step in the order of its calls. */
export const resultMessages = (slots: Iterable<CallSlot>): readonly Message[] => {
  const content: ToolPart[] = [];
  for (const { call, result } of slots) {
    if (result) content.push({ type: 'tool-result', toolCallId: call.id, toolName: call.name, output: result.output });
  }
  return [{ role: 'tool', content }];
};

/** Adds the declarations of a tool to the model's call. */
export const withDefinition = (call: ToolCall, definitions: ReadonlyMap<string, ToolDefinition>): ToolCall => {
  const definition = definitions.get(call.name);
  if (!definition) return call;
  const { id, name, input } = call;
  return { id, name, input, effect: definition.effect, idempotent: definition.idempotent, paths: definition.paths };
};
