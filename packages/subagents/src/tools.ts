import type { JSONObject, JSONValue } from '@h/turn';
import type { EndedChild } from './team/delivery.js';
import { capText } from './child/evidence.js';
import type { Child, Member } from './team/family.js';
import type { Team } from './team/team.js';
import { awaitedOf, isUnderWay, waitFor, type WaitEnd } from './team/wait.js';

/** Context of a tool call, as the drivers of `@h/tools` pass it. */
export interface SubagentToolContext {
  readonly call: { readonly id: string };
  readonly turn: string;
  readonly session: string;
  readonly signal: AbortSignal;
}

/** A tool in the shape that `defineTool` of `@h/tools` accepts. */
export interface SubagentTool {
  readonly name: 'spawn' | 'wait';
  readonly description: string;
  readonly input: JSONObject;
  readonly effect: 'local-write';
  readonly resources: () => readonly string[];
  /** No input is a path. */
  readonly paths: Readonly<Record<string, never>>;
  readonly timeoutMs: number;
  readonly run: (input: JSONObject, context: SubagentToolContext) => Promise<JSONObject | string>;
}

/** Creates the tool `spawn`. It returns at once; the result is delivered later. */
export const spawnTool = (team: Team): SubagentTool => ({
  name: 'spawn',
  description: [
    'Gives a task to a sub-agent, which works on it while you continue. Use it for independent work: the sub-agent knows nothing but its task, so include everything that it needs.',
    'Its result is delivered to you when it has ended; do not poll for it. Use the tool wait if you cannot continue without it.',
    'Agents:',
    ...Object.entries(team.options.agents).map(([name, { description }]) => `- ${name}: ${description}`),
  ].join('\n'),
  input: {
    type: 'object',
    properties: {
      agent: { type: 'string', enum: Object.keys(team.options.agents), description: 'Which agent.' },
      task: {
        type: 'string',
        minLength: 1,
        description: 'What to do and what to report, with everything that the sub-agent must know.',
      },
      tools: {
        type: 'array',
        items: { type: 'string' },
        description: 'The only tools that it may use. Default: all tools that you may use.',
      },
    },
    required: ['agent', 'task'],
    additionalProperties: false,
  },
  effect: 'local-write',
  resources: () => ['subagents:'],
  paths: {},
  timeoutMs: team.limits.storeMs + marginMs,
  run: async ({ agent, task, tools }, { session, turn }) => {
    if (team.turns.get(session)?.turn !== turn) {
      return {
        status: 'refused',
        code: 'parent-ended',
        reason: 'The turn has ended, or subagents() is not in its pipe.',
      };
    }
    const policy = Array.isArray(tools) ? { tools: tools.map(String) } : undefined;
    const answer = await team.spawn({
      parent: session,
      agent: textOf(agent),
      task: textOf(task),
      policy,
      receiver: 'parent',
    });
    if (answer.status === 'accepted') return { status: 'accepted', child: answer.child, agent: answer.agent };
    const { status, code, reason, limit } = answer;
    return { status, code, reason, ...(limit !== undefined && { limit }) };
  },
});

/** Creates the tool `wait`, which waits for unread results under one deadline. */
export const waitTool = (team: Team): SubagentTool => ({
  name: 'wait',
  description:
    'Waits until sub-agents have ended and returns their results, including earlier ones that you have not read. Without ids it waits for all. It ends early when new input arrives.',
  input: {
    type: 'object',
    properties: {
      children: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        description: 'Ids of the sub-agents, as returned by spawn.',
      },
      timeoutMs: {
        type: 'integer',
        minimum: 1,
        description: `How long to wait for all of them together, in milliseconds; at most ${team.limits.waitMs}.`,
      },
    },
    additionalProperties: false,
  },
  effect: 'local-write',
  resources: () => ['subagents:'],
  paths: {},
  timeoutMs: team.limits.waitMs + marginMs,
  run: async ({ children, timeoutMs }, context) => {
    const member = team.family.find(context.session);
    const ids = Array.isArray(children) ? children.map(String) : undefined;
    const { targets, unknown } = targetsOf(member, ids);
    if (!member || targets.length === 0) {
      return [
        ...unknown.map(unknownLine),
        'There is nothing to wait for: you have no sub-agents with unread results.',
      ].join('\n');
    }
    const given = typeof timeoutMs === 'number' ? timeoutMs : Infinity;
    const until = {
      timeoutMs: Math.min(given, team.limits.waitMs),
      signal: context.signal,
      onInput: team.turns.get(context.session)?.onInput,
      after: team.after,
    };
    const isDone = (): boolean => !targets.some(isUnderWay);
    const why = isDone()
      ? 'all-ended'
      : await team.pauses.during(
          { session: context.session, turn: team.turns.get(context.session), place: member.child?.place },
          () => waitFor(member, isDone, until),
        );
    if (context.signal.aborted) throw new Error('The wait was aborted.');
    const ended = targets.filter(
      (child): child is EndedChild => child.end !== undefined && child.delivery === 'waiting',
    );
    const open = targets.filter(isUnderWay);
    const results = ended.length === 0 ? [] : [await team.delivery.answer(ended, context.call.id)];
    return (
      [...results, ...open.map((child) => openLine(child, why)), ...unknown.map(unknownLine)].join('\n\n') ||
      'Their results were given to you already.'
    );
  },
});

const textOf = (value: JSONValue | undefined): string => (typeof value === 'string' ? value : '');

/** The deadline of a tool call exceeds the deadline of its wait by this margin. */
const marginMs = 30_000;

const targetsOf = (
  member: Member | undefined,
  ids: readonly string[] | undefined,
): { readonly targets: readonly Child[]; readonly unknown: readonly string[] } => {
  const own = new Map(
    [...(member?.children ?? [])]
      .filter(({ record }) => record.receiver === 'parent')
      .map((child) => [child.record.id, child]),
  );
  if (!ids) {
    return {
      targets: [...own.values()].filter((child) => child.end !== undefined || awaitedOf(member).includes(child)),
      unknown: [],
    };
  }
  const targets = [...new Set(ids)].flatMap((id) => own.get(id) ?? []);
  return { targets, unknown: ids.filter((id) => !own.has(id)) };
};

const openLine = ({ record }: Child, why: WaitEnd): string => {
  const reason =
    why === 'timed-out'
      ? 'timed out: it did not end within the wait'
      : 'no longer waited for, because a message arrived';
  return `Sub-agent ${record.id} (${record.agent}): ${reason}. It is still running, and its result will be delivered.`;
};

const unknownLine = (id: string): string =>
  `${JSON.stringify(capText(id, 80))} is not one of your sub-agents with an unread result.`;
