import { harness, type Agent, type ModelDriver, type SessionStore, type TurnEvent, type TurnOperator } from '@h/turn';
import { call, response, scriptedModel, type ScriptStep } from '@h/turn/testing';
import { lastValueFrom, toArray } from 'rxjs';
import { subagents, type ChildContext, type Subagents, type SubagentsOptions } from '../src/index.js';
import { driverOf, type TestTool } from './tool-driver.js';

/** The behavior of a sub-agent, by its task. */
export type Script = readonly ScriptStep[];

export interface TreeOptions extends Partial<SubagentsOptions> {
  /** The answers of the parent's model. */
  readonly parent: readonly ScriptStep[];
  /** The answers of the sub-agents' models, by task. */
  readonly tasks?: Readonly<Record<string, Script>>;
  readonly tools?: readonly TestTool[];
  readonly sessions?: SessionStore;
  readonly childOperators?: (context: ChildContext) => readonly TurnOperator[];
  readonly operators?: readonly TurnOperator[];
  /** Operators after `team`. */
  readonly lateOperators?: readonly TurnOperator[];
  readonly delayMs?: number;
}

export interface Tree {
  readonly team: Subagents;
  readonly agent: Agent;
  readonly parent: ReturnType<typeof scriptedModel>;
  readonly contexts: ChildContext[];
  readonly children: ReturnType<typeof scriptedModel>[];
  run(input?: string): Promise<readonly TurnEvent[]>;
}

/** A parent that spawns workers, all scripted. Ids are c1, t1, c2 …: the sub-agent's, then its turn's. */
export const tree = (options: TreeOptions): Tree => {
  const {
    parent: script,
    tasks = {},
    tools = [],
    sessions,
    childOperators,
    operators = [],
    lateOperators = [],
    delayMs,
    ...rest
  } = options;
  const contexts: ChildContext[] = [];
  const children: ReturnType<typeof scriptedModel>[] = [];
  let ids = 0;
  const timing = delayMs === undefined ? {} : { delayMs };
  const build = (model: ModelDriver, ...pipe: readonly TurnOperator[]): Agent =>
    harness({ model, tools: driverOf(...team.tools, ...tools), ...(sessions && { sessions }) }).pipe(...pipe);
  const team: Subagents = subagents({
    newId: () => {
      ids += 1;
      return ids % 2 === 1 ? `c${(ids + 1) / 2}` : `t${ids / 2}`;
    },
    agents: {
      worker: {
        description: 'Works.',
        create: (context) => {
          contexts.push(context);
          const model = scriptedModel(tasks[context.task] ?? [`Done: ${context.task}`], timing);
          children.push(model);
          return build(model, ...(childOperators?.(context) ?? []), team, context.guard);
        },
      },
    },
    ...rest,
  });
  const parent = scriptedModel(script, timing);
  const agent = build(parent, ...operators, team, ...lateOperators);
  return {
    team,
    agent,
    parent,
    contexts,
    children,
    run: (input = 'Go') => lastValueFrom(agent.turn({ session: 'boss', input }).pipe(toArray())),
  };
};

export const spawn = (id: string, task = id, more: object = {}) =>
  call(id, 'spawn', { agent: 'worker', task, ...more });
export const wait = (id: string, input: object = {}) => call(id, 'wait', input);
export const says = response;

/** Joins the text of a request's messages. */
export const readBy = (model: ReturnType<typeof scriptedModel>, request: number): string =>
  JSON.stringify(model.requests[request]?.messages.toArray() ?? []);

export const endOf = (events: readonly TurnEvent[]): unknown => events.find(({ type }) => type === 'turn.end');

export const countOf = (text: string, part: string): number => text.split(part).length - 1;
