import { Observable, type ObservableInput } from 'rxjs';
import { deny, retry } from '../contract/decisions.js';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { intercept } from '../operators/intercept.js';
import { MessageList } from '../contract/message-list.js';
import type { ModelDriver, ModelDriverOutput } from '../contract/model.js';
import type { ToolDefinition, ToolDriver } from '../contract/tool.js';
import { call, failure, ok, response, user } from './builders.js';

/** The model's answer in one step of a {@link RandomTurn}. */
interface Step {
  /** The number of times the model call fails before it succeeds. */
  readonly failures: number;
  /** The tools that the answer calls. */
  readonly tools: readonly ToolName[];
  /** Whether an operator replaces the history before the request. */
  readonly replaces: boolean;
}

const toolNames = ['read', 'list', 'fail', 'deny', 'deny-later', 'ask'] as const;
type ToolName = (typeof toolNames)[number];

/** A deterministic turn: each event depends on the state of the turn only, not on earlier runs. */
export interface RandomTurn {
  readonly steps: readonly Step[];
  /** The step at which a message for the running turn arrives, if one does. */
  readonly steerAt: number | undefined;
  /** The step at which an operator stops the turn, if one does. */
  readonly stopAt: number | undefined;
}

/** Generates the turn of a seed. */
export const randomTurn = (seed: number): RandomTurn => {
  const random = randomNumbers(seed);
  const pick = (below: number): number => Math.floor(random() * below);
  const steps = Array.from({ length: 3 + pick(5) }, () => ({
    failures: pick(4) === 0 ? 1 + pick(2) : 0,
    tools: Array.from({ length: 1 + pick(4) }, () => toolNames[pick(toolNames.length)] as ToolName),
    replaces: pick(5) === 0,
  }));
  return {
    steps,
    steerAt: pick(2) === 0 ? 1 + pick(steps.length) : undefined,
    stopAt: pick(4) === 0 ? 2 + pick(steps.length) : undefined,
  };
};

/** Mulberry32: small, and the same on every machine. */
const randomNumbers = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** The model of a turn. @param failuresOf - how many calls of a step have failed, as the journal has it */
export const modelOf =
  ({ steps }: RandomTurn, failuresOf: (step: number) => number): ModelDriver =>
  (_, { step }) =>
    after(10, (): ModelDriverOutput => {
      const planned = steps[step - 1];
      if (planned && failuresOf(step) < planned.failures) {
        return { type: 'error', error: failure('Overloaded.', { code: 'overloaded', status: 529 }) };
      }
      const calls = planned?.tools.map((name, index) => call(`call-${step}-${index}`, name, { path: `${index}.txt` }));
      return { type: 'response', response: response(`This is step ${step}.`, ...(calls ?? [])) };
    });

const definitions: readonly ToolDefinition[] = toolNames.map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: 'object' },
  effect: 'read-only',
}));

/** Idempotent tools with deterministic output. */
export const toolsOf = (): ToolDriver => ({
  definitions: () => definitions,
  run: (calls) =>
    new Observable((subscriber) => {
      const timers = calls.map(({ id, name }, index) =>
        setTimeout(
          () => {
            const error = failure('No such file.');
            const failed = { status: 'failed', error, output: { type: 'error-text', value: error.message } } as const;
            subscriber.next({ type: 'result', id, outcome: name === 'fail' ? failed : ok(`The result of ${id}.`) });
            if (index === calls.length - 1) subscriber.complete();
          },
          5 * (index + 1),
        ),
      );
      return () => timers.forEach(clearTimeout);
    }),
});

const after = <Value>(delayMs: number, make: () => Value): ObservableInput<Value> =>
  new Observable((subscriber) => {
    const timer = setTimeout(() => {
      subscriber.next(make());
      subscriber.complete();
    }, delayMs);
    return () => clearTimeout(timer);
  });

/** An operator before the one under test, which denies calls. */
export const above = (): TurnOperator =>
  intercept('above', () => ({
    decide: { 'tool.call': (event) => (event.call.name === 'deny' ? deny(event, 'Denied above.') : undefined) },
  }));

/** An operator after the one under test, which denies, asks, retries, replaces the history and stops. */
export const below = ({ steps, stopAt }: RandomTurn): TurnOperator =>
  intercept('below', ({ emit }) => {
    const asked = new Map<string, (isAllowed: boolean) => void>();
    const replaced = new Set<string>();
    return {
      observe: {
        'history.replace': ({ origin }) => void replaced.add(origin),
        'approval.answer': ({ id, decision }) => asked.get(id)?.(decision !== 'deny'),
      },
      decide: {
        'model.request': (event) => {
          if (event.step === stopAt) return { type: 'turn.stop', outcome: 'blocked', reason: 'Stopped below.' };
          const origin = `below, step ${event.step}`;
          if (steps[event.step - 1]?.replaces !== true || replaced.has(origin)) return undefined;
          const messages = [user('A summary.'), ...event.messages.slice(-2)];
          return [
            { type: 'history.replace', messages, origin },
            { ...event, messages: MessageList.of(messages) },
          ];
        },
        'model.error': (event) => (event.error.code === 'overloaded' ? retry(event) : undefined),
        'tool.call': (event) => {
          if (event.denied) return undefined;
          if (event.call.name === 'deny-later') return Promise.resolve(deny(event, 'Denied below.'));
          if (event.call.name !== 'ask') return undefined;
          const id = `${event.turn}:${event.call.id}`;
          const answer = new Promise<TurnEvent | undefined>((resolve) =>
            asked.set(id, (isAllowed) => resolve(isAllowed ? undefined : deny(event, 'The user said no.'))),
          );
          emit({ type: 'approval.request', id, reason: 'May I?', call: event.call });
          return answer;
        },
      },
    };
  });
