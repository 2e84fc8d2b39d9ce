import {
  harness,
  textOf,
  type HarnessOptions,
  type ModelDriver,
  type ModelRequest,
  type SessionStore,
  type ToolCallPart,
  type TurnEvent,
} from '@h/turn';
import { call, scriptedTools, type ScriptedTool, type ScriptedTools } from '@h/turn/testing';
import { lastValueFrom, toArray } from 'rxjs';
import { continuity, continuityTools, type ContinuityOptions, type Project, type TaskCheck } from '../src/index.js';

/** The tools of a project, as a driver for one session. */
export const projectTools = (
  project: Project,
  session: string,
  check: TaskCheck,
  more: Readonly<Record<string, ScriptedTool>> = {},
): ScriptedTools => {
  const own = continuityTools({ project, check }).map(({ name, run, effect, idempotent }) => ({
    name,
    definition: { effect, idempotent },
    tool: ((input, { signal }) => run(input as never, { session, signal })) satisfies ScriptedTool,
  }));
  return scriptedTools(
    { ...more, ...Object.fromEntries(own.map(({ name, tool }) => [name, tool])) },
    Object.fromEntries(own.map(({ name, definition }) => [name, definition])),
  );
};

/** An agent of one session. */
export interface SessionAgent extends Omit<ContinuityOptions, 'project'> {
  readonly project: Project;
  readonly session: string;
  readonly model: ModelDriver;
  readonly check: TaskCheck;
  readonly tools?: Readonly<Record<string, ScriptedTool>> | undefined;
  readonly sessions?: SessionStore | undefined;
  readonly harness?: Partial<HarnessOptions> | undefined;
}

export const agentOf = ({ project, session, model, check, tools, sessions, harness: more, ...options }: SessionAgent) =>
  harness({ model, tools: projectTools(project, session, check, tools), sessions, closeGraceMs: 20_000, ...more }).pipe(
    continuity({ project, ...options }),
  );

/** Runs a session of one turn and returns its events. */
export const runSession = (agent: SessionAgent, input = 'Continue.'): Promise<readonly TurnEvent[]> =>
  lastValueFrom(
    agentOf(agent)
      .turn({ session: agent.session, input, id: `turn-${agent.session}` })
      .pipe(toArray()),
  );

let calls = 0;

/** A call with a new id. */
export const use = (name: string, input: unknown = {}): ToolCallPart => {
  calls += 1;
  return call(`call-${calls}`, name, input);
};

/** The text of the last message of the tail. */
export const tailOf = (request: ModelRequest | undefined): string => {
  const message = request?.tail.at(-1);
  return message === undefined ? '' : textOf(message);
};
