import {
  harness,
  memorySessions,
  reply,
  repairHistory,
  type Agent,
  type AssistantPart,
  type Message,
  type ModelResponse,
  type Reply,
  type ToolDriver,
  type TurnEvent,
  type TurnEventOf,
  type TurnEventType,
  type TurnOperator,
  type UserMessage,
} from '@h/turn';
import {
  call,
  response,
  scriptedModel,
  scriptedTools,
  usage,
  type ScriptStep,
  type ScriptedModel,
} from '@h/turn/testing';
import { tap } from 'rxjs';
import { expect, vi } from 'vitest';
import { guardrails } from '../src/guardrails.js';
import type { GuardrailsOptions } from '../src/options.js';

/** A model that calls a tool in each of N steps and then answers. */
export const worker = (steps: number, tool = 'ls'): readonly ScriptStep[] =>
  Array.from({ length: steps }, (_, index) => (index === steps - 1 ? 'Done.' : response(call(`call-${index}`, tool))));

/** A model that calls a tool for as long as it may, and sums up when it may not any more. */
export const eager: ScriptStep = ({ settings }) =>
  settings.toolChoice === 'none' ? 'This is what is done.' : response(call('again', 'ls'));

/** An answer with this usage. */
export const costing = (
  input: number,
  output: number,
  ...parts: readonly (string | AssistantPart)[]
): ModelResponse => ({ ...response(...parts), usage: usage(input, output) });

/** An answer that was truncated at the output limit. */
export const cut = (...parts: readonly (string | AssistantPart)[]): ModelResponse => ({
  ...response(...parts),
  finishReason: 'length',
});

export interface Ran extends Reply {
  readonly model: ScriptedModel;
  readonly events: readonly TurnEvent[];
  readonly transcript: readonly Message[];
  of<Type extends TurnEventType>(type: Type): readonly TurnEventOf<Type>[];
}

export interface RunOptions {
  readonly tools?: ToolDriver;
  readonly delayMs?: number | undefined;
  readonly before?: readonly TurnOperator[];
  readonly after?: readonly TurnOperator[];
  readonly sessions?: ReturnType<typeof memorySessions>;
  readonly session?: string;
  readonly input?: string | UserMessage;
}

export const agentOf = (
  model: ScriptedModel,
  options: GuardrailsOptions | undefined,
  { tools = scriptedTools({ ls: 'a.txt' }), before = [], after = [], sessions }: RunOptions = {},
): Agent => harness({ model, tools, ...(sessions && { sessions }) }).pipe(...before, guardrails(options), ...after);

/** Runs a turn to its end, in virtual time, and sees that what is stored is in order. */
export const run = async (
  script: readonly ScriptStep[],
  options?: GuardrailsOptions,
  given: RunOptions = {},
): Promise<Ran> => {
  const { sessions = memorySessions(), session = 'alice', input = 'Work.', delayMs } = given;
  const model = scriptedModel(script, { delayMs });
  const events: TurnEvent[] = [];
  const agent = agentOf(model, options, { ...given, sessions });
  const isFake = vi.isFakeTimers();
  if (!isFake) vi.useFakeTimers({ now: 0 });
  try {
    const turn$ = agent.turn({ session, input });
    const replied = reply(turn$.pipe(tap((event) => events.push(event))));
    if (!isFake) await vi.advanceTimersByTimeAsync(86_400_000);
    const result = await replied;
    const transcript = sessions.messages(session);
    expect(repairHistory(transcript).repairs).toEqual([]);
    return {
      ...result,
      model,
      events,
      transcript,
      of: (type) => events.filter((event) => event.type === type) as never,
    };
  } finally {
    if (!isFake) vi.useRealTimers();
  }
};
