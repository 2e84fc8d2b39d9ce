import type { Agent, SessionStore, TurnEvent } from '@h/turn';
import { defer, finalize, from, switchMap, type Observable } from 'rxjs';

/** An agent of one workplace. */
export interface OpenAgent {
  readonly agent: Agent;
  close(): Promise<void>;
}

/** Options of {@link routedAgent}. */
export interface RoutedAgentOptions {
  readonly sessions: SessionStore;
  /** The workplace of a session. */
  readonly keyOf: (session: string) => string;
  readonly open: (key: string) => Promise<OpenAgent>;
  /** Called before each turn of a session, which begins when it has resolved. */
  readonly prepare: (session: string) => Promise<void>;
  /** Maximum number of workplaces that stay open while no turn runs in them. */
  readonly maxIdle: number;
}

interface Place {
  readonly opened: Promise<OpenAgent>;
  /** Set once it is open. */
  agent: Agent | undefined;
  /** Turns that run in it, or wait for it to open. */
  users: number;
}

/**
 * An agent that runs each turn with the agent of its workplace, which it opens when a turn needs it. The oldest idle
 * ones are closed.
 */
export const routedAgent = ({
  sessions,
  keyOf,
  open,
  prepare,
  maxIdle,
}: RoutedAgentOptions): Agent & Omit<OpenAgent, 'agent'> => {
  const places = new Map<string, Place>();
  const agents = (): readonly Agent[] => [...places.values()].flatMap(({ agent }) => agent ?? []);
  const placeOf = (key: string): Place => {
    const place: Place = { opened: open(key), agent: undefined, users: 0 };
    place.opened.then(
      ({ agent }) => (place.agent = agent),
      () => places.get(key) === place && places.delete(key),
    );
    return place;
  };
  const acquire = (key: string): Place => {
    const place = places.get(key) ?? placeOf(key);
    place.users += 1;
    // Moves the place to the end, behind those that were used earlier.
    places.delete(key);
    places.set(key, place);
    return place;
  };
  const closePlace = async (key: string, { opened }: Place): Promise<void> => {
    places.delete(key);
    const agent = await opened.catch(() => undefined);
    await agent?.close();
  };
  const release = (place: Place): void => {
    place.users -= 1;
    const idle = [...places].filter(([, { users }]) => users === 0);
    for (const [name, one] of idle.slice(0, Math.max(0, idle.length - maxIdle))) {
      closePlace(name, one).catch(() => undefined);
    }
  };
  const within = (session: string, run: (agent: Agent) => Observable<TurnEvent>): Observable<TurnEvent> =>
    defer(() => {
      const place = acquire(keyOf(session));
      return from(Promise.all([place.opened, prepare(session)])).pipe(
        switchMap(([{ agent }]) => run(agent)),
        finalize(() => release(place)),
      );
    });
  const resumed = (turn: string, run: (agent: Agent) => Observable<TurnEvent>): Observable<TurnEvent> =>
    defer(async () => sessions.locate(turn)).pipe(switchMap((session) => within(session ?? turn, run)));
  return {
    get operators() {
      return agents().at(-1)?.operators ?? [];
    },
    turn: (input) => within(input.session, (agent) => agent.turn(input)),
    resume: (turn, options) => resumed(turn, (agent) => agent.resume(turn, options)),
    finish: (turn, reason) => resumed(turn, (agent) => agent.finish(turn, reason)),
    steer: (session, message, id) => agents().some((agent) => agent.steer(session, message, id)),
    answer: (approval, decision) => agents().some((agent) => agent.answer(approval, decision)),
    running: () => agents().flatMap((agent) => agent.running()),
    unfinished: () => sessions.unfinished(),
    close: async () => {
      await Promise.all([...places].map(([key, place]) => closePlace(key, place)));
    },
  };
};
