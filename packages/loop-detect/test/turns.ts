import {
  harness,
  intercept,
  memorySessions,
  repairHistory,
  type Agent,
  type JournalRecord,
  type Message,
  type SessionStore,
  type ToolOutcome,
  type TurnEvent,
  type TurnEventOf,
  type TurnEventType,
  type TurnOperator,
} from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import {
  call,
  response,
  scriptedModel,
  scriptedTools,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTools,
  type ScriptStep,
} from '@h/turn/testing';
import { lastValueFrom, tap } from 'rxjs';
import { expect, vi } from 'vitest';
import { loopDetect, type LoopDetectOptions } from '../src/index.js';

/** Creates an answer with these calls. */
export const asking = (...calls: readonly (readonly [name: string, input?: unknown])[]): ScriptStep =>
  response(...calls.map(([name, input = {}], index) => call(`c${index}`, name, input)));

/** Repeats an answer. */
export const again = (count: number, step: ScriptStep): readonly ScriptStep[] =>
  Array.from({ length: count }, () => step);

export interface Ran {
  readonly events: readonly TurnEvent[];
  readonly end: TurnEventOf<'turn.end'>;
  readonly model: ScriptedModel;
  readonly tools: ScriptedTools;
  readonly messages: readonly Message[];
  all<Type extends TurnEventType>(type: Type): readonly TurnEventOf<Type>[];
}

export interface Setting {
  readonly options?: LoopDetectOptions;
  readonly model?: ScriptedModelOptions;
  readonly tools?: Parameters<typeof scriptedTools>[0];
  readonly sessions?: SessionStore;
  readonly operators?: readonly TurnOperator[];
  readonly onEvent?: (event: TurnEvent, agent: Agent) => void;
}

/** Adds another line to each output of `read`, as an operator that names a stored file may do. */
export const stamp = (): TurnOperator =>
  intercept('stamp', () => ({
    decide: {
      'tool.result': (event) =>
        event.call.name === 'read' && event.output.type === 'text'
          ? { ...event, output: { type: 'text', value: `${event.output.value}\nStamp of ${event.call.id}` } }
          : undefined,
    },
  }));

/** Creates a tool that fails with different times and process ids in its output. */
export const failing = (): (() => ToolOutcome) => {
  let round = 0;
  return () => {
    round += 1;
    const value = `1 failing\nAssertionError: expected 1 to be 2\nfinished in ${round * 31}ms (pid ${4000 + round})\nExit code: 1`;
    return {
      status: 'failed',
      error: { name: 'ToolError', message: 'Failed.' },
      output: { type: 'error-text', value },
    };
  };
};

/** Runs one turn of a scripted model to its end, and checks that its transcript is valid. */
export const run = async (
  script: readonly ScriptStep[],
  {
    options,
    model: modelOptions,
    tools: table,
    sessions = memorySessions(),
    operators = [loopDetect(options)],
    onEvent,
  }: Setting = {},
): Promise<Ran> => {
  const model = scriptedModel(script, modelOptions);
  const tools = scriptedTools(table ?? { test: failing(), read: 'contents', edit: 'Changed.', status: 'running' });
  const agent = harness({ model, tools, sessions }).pipe(...operators);
  const turn$ = agent.turn({ session: 'alice', input: 'Go.', id: 'turn-1' });
  const events: TurnEvent[] = [];
  const running = lastValueFrom(
    turn$.pipe(
      tap((event) => {
        events.push(event);
        onEvent?.(event, agent);
      }),
    ),
  );
  await (vi.isFakeTimers() ? pass(running) : running);
  return ranOf(events, model, tools);
};

/** Advances virtual time until the work is done. */
const pass = async (running: Promise<unknown>): Promise<void> => {
  const state = { isDone: false };
  const settled = running.finally(() => {
    state.isDone = true;
  });
  for (let second = 0; second < 600 && !state.isDone; second += 1) await vi.advanceTimersByTimeAsync(1_000);
  if (!state.isDone) throw new Error('The turn hangs.');
  await settled;
};

export const ranOf = (events: readonly TurnEvent[], model: ScriptedModel, tools: ScriptedTools): Ran => {
  const end = events.at(-1);
  if (end?.type !== 'turn.end') throw new Error('The turn has not ended.');
  const messages = events.flatMap((event) => (event.type === 'history.append' ? event.messages : []));
  expect(repairHistory(messages).repairs).toEqual([]);
  return {
    events,
    end,
    model,
    tools,
    messages,
    all: (type) => events.filter((event): event is TurnEventOf<typeof type> => event.type === type),
  };
};

/** Creates a store as a crash after these records leaves it. It stores further records. */
export const storeOf = (
  records: readonly JournalRecord[],
): SessionStore & { readonly journal: readonly JournalRecord[] } => {
  const journal = records.map((record) => decodeRecord(encodeRecord(record)));
  return {
    journal,
    open: () => ({
      snapshot: { messages: [], state: {} },
      journal: [...journal],
      append: (record) => {
        journal.push(record);
      },
      close: () => undefined,
    }),
    locate: () => 'alice',
    unfinished: () => [],
  };
};

/** Returns the results of its calls as the model reads them, in order. */
export const resultTexts = ({ messages }: Ran): readonly string[] =>
  messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap((part) => {
          if (part.type !== 'tool-result') return [];
          const { output } = part;
          return [
            output.type === 'execution-denied'
              ? (output.reason ?? '')
              : typeof output.value === 'string'
                ? output.value
                : JSON.stringify(output.value),
          ];
        })
      : [],
  );
