import { randomUUID } from 'node:crypto';
import { isChildSession } from '@h/subagents';
import { TurnError, type Agent, type SessionStore, type TurnEvent, type TurnInput } from '@h/turn';
import { defer, EMPTY, finalize, from, switchMap, type Observable } from 'rxjs';
import { isAgentName, partsOfSession } from './session-id.js';

/** An agent that runs the turns of many agents, and can cancel them. */
export interface AgentRouter extends Agent {
  /** Cancels the running turn of a session, or only the given one. @returns whether one was running */
  cancel(session: string, turn: string | undefined, reason: string): boolean;
}

/**
 * Creates an agent that passes each turn to the agent of its session. Sessions of sub-agents that were left by a dead
 * process are ended, because only their parents have the tools to continue them.
 */
export const routeAgents = (
  agents: ReadonlyMap<string, Agent>,
  sessions: Pick<SessionStore, 'locate' | 'unfinished'>,
): AgentRouter => {
  /** What cancels the running turns, by turn. */
  const running = new Map<string, { readonly session: string; readonly stop: AbortController }>();
  const agentOf = (session: string): Agent => {
    const agent = agents.get(partsOfSession(session)?.agent ?? '');
    if (agent) return agent;
    const known = [...agents.keys()].join(', ');
    throw new TurnError(
      'unknown-agent',
      `The session ${JSON.stringify(session)} belongs to an agent that does not exist here. Known agents: ${known}. Restore its file, or delete the session.`,
    );
  };
  const watched = (
    session: string,
    turn: string,
    given: AbortSignal | undefined,
    run: (signal: AbortSignal) => Observable<TurnEvent>,
  ): Observable<TurnEvent> =>
    defer(() => {
      const stop = new AbortController();
      running.set(turn, { session, stop });
      const events = run(given ? AbortSignal.any([given, stop.signal]) : stop.signal);
      return events.pipe(finalize(() => running.delete(turn)));
    });
  const all = [...agents.values()];
  const finishChild = (turn: string): Observable<TurnEvent> => all[0]?.finish(turn) ?? EMPTY;
  const located = (turn: string, run: (session: string) => Observable<TurnEvent>): Observable<TurnEvent> =>
    defer(() => from(Promise.resolve(sessions.locate(turn)))).pipe(switchMap((session) => run(session ?? '')));
  return {
    turn: (input: TurnInput) => {
      const { session, id = randomUUID() } = input;
      const agent = agentOf(session);
      return watched(session, id, input.signal, (signal) => agent.turn({ ...input, id, signal }));
    },
    resume: (turn, options) =>
      located(turn, (session) =>
        isChildSession(session)
          ? finishChild(turn)
          : watched(session, turn, options?.signal, (signal) => agentOf(session).resume(turn, { signal })),
      ),
    finish: (turn, reason) =>
      located(turn, (session) => (isChildSession(session) ? finishChild(turn) : agentOf(session).finish(turn, reason))),
    steer: (session, message, id) => agentOf(session).steer(session, message, id),
    answer: (id, decision) => all.some((agent) => agent.answer(id, decision)),
    running: () => all.flatMap((agent) => agent.running()),
    // Turns of agents that were removed stay unfinished until their files are restored.
    unfinished: async () =>
      (await sessions.unfinished()).filter(
        ({ session }) => isChildSession(session) || agents.has(partsOfSession(session)?.agent ?? ''),
      ),
    operators: all[0]?.operators ?? [],
    cancel: (session, turn, reason) => {
      const found = [...running].filter(([id, run]) => run.session === session && (turn === undefined || id === turn));
      for (const [, { stop }] of found) stop.abort(new TurnError('cancelled', reason));
      return found.length > 0;
    },
  };
};

/** @throws TurnError if names are not unique or not valid in ids */
export const checkAgentNames = (names: readonly string[]): void => {
  for (const [index, name] of names.entries()) {
    if (!isAgentName(name)) {
      throw new TurnError(
        'invalid-agent',
        `The name of an agent must have 1 to 64 letters, digits, "-" or "_", but is ${JSON.stringify(name)}.`,
      );
    }
    if (names.indexOf(name) !== index) {
      throw new TurnError('invalid-agent', `Two agents have the name ${JSON.stringify(name)}. Rename one of them.`);
    }
  }
};
