import { join } from 'node:path';
import { createLanes, type LocalLanes } from '@h/queue';
import { fileInboxStore } from '@h/queue/file-store';
import { createInbox, type Inbox } from '@h/queue/inbox';
import { fileSessions, recoverTurns } from '@h/session';
import { fileArtifacts } from '@h/tools';
import type { Agent, SessionStore, TurnEvent } from '@h/turn';
import pTimeout from 'p-timeout';
import type { StationLanes } from '../api/contract.js';
import type { Backend, Stores, TurnRunner } from './backend.js';
import { openFileRecords } from './file-records.js';
import { fileStreams } from './file-streams.js';
import { StationError } from './session-id.js';

/** Options of {@link embeddedBackend}. */
export interface EmbeddedOptions {
  /** An absolute folder outside of any git work tree. One process uses it at a time. */
  readonly directory: string;
  /** Number of turns that run at once. */
  readonly concurrency: number;
  /** Number of turns that each tenant may run at once. @defaultValue `concurrency` */
  readonly tenantConcurrency?: number | undefined;
  /** Number of slots that background turns never take. */
  readonly reservedForeground: number;
  /** Opens other stores for sessions and artifacts. @defaultValue files in `directory` */
  readonly openStores?: (() => Promise<Stores>) | undefined;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Opens a backend in this process with files: after `kill -9`, turns are resumed, messages delivered, and approvals are
 * still open.
 *
 * @throws LockHeldError if another process uses the folder
 */
export const embeddedBackend = async (options: EmbeddedOptions): Promise<Backend> => {
  const { directory, concurrency, reservedForeground, onProblem } = options;
  const records = await openFileRecords(join(directory, 'records'), onProblem);
  const { openStores = () => fileStores(directory, onProblem) } = options;
  const stores = await openStores().catch(async (error: unknown) => {
    await records.close();
    throw error;
  });
  const { sessions, artifacts, retention } = stores;
  const lanes = createLanes({
    concurrency,
    reservedForeground,
    groups: { tenant: { concurrency: options.tenantConcurrency ?? concurrency } },
  });
  let inbox: Inbox | undefined;
  return {
    records,
    events: fileStreams(join(directory, 'events')),
    sessions,
    artifacts,
    retention,
    lanes,
    capacity: concurrency,
    submit: async (session, message, sendOptions) => {
      if (!inbox) throw new StationError(503, 'not-ready', 'The station runs no turns yet. Retry in a second.');
      return inbox.send(session, message, sendOptions).accepted;
    },
    run: async (agent, onEvent) => {
      const opened = createInbox(agent, lanes, {
        mode: 'steer',
        maxPending: 100,
        store: fileInboxStore({ directory: join(directory, 'inbox') }),
      });
      const following = opened.events.subscribe(onEvent);
      const resumed = await resume(agent, onEvent, onProblem);
      const recovering = recoverMessages(opened, sessions, onProblem);
      await recovering.begun;
      inbox = opened;
      const running = runner(opened, lanes, resumed, () => following.unsubscribe());
      return {
        ...running,
        close: () => {
          recovering.stop();
          return running.close();
        },
      };
    },
    isHandedOver: (code) => code === 'session-closed',
    lanesSnapshot: () => snapshotOf(lanes, concurrency),
    check: async () => {
      await records.get('secret', 'none');
      await stores.check?.();
      if (!inbox) throw new StationError(503, 'not-ready', 'The station runs no turns yet. Retry in a second.');
    },
    close: async () => {
      await lanes.shutdown();
      await stores.close?.();
      await records.close();
    },
  };
};

const fileStores = async (directory: string, onProblem: (error: unknown) => void): Promise<Stores> => ({
  sessions: fileSessions({ directory: join(directory, 'sessions'), onProblem }),
  artifacts: await fileArtifacts({ directory: join(directory, 'artifacts') }),
});

interface Resumed {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/** Resolves when all unfinished turns hold their sessions; they may wait for approval for days. */
const resume = async (
  agent: Agent,
  onEvent: (event: TurnEvent) => void,
  onProblem: (error: unknown) => void,
): Promise<Resumed> => {
  const turns = await agent.unfinished();
  const stop = new AbortController();
  if (turns.length === 0) return { stop, ended: Promise.resolve() };
  const begun = new Map<string, () => void>();
  const all = turns.map(({ turn }) => new Promise<void>((resolve) => void begun.set(turn, resolve)));
  const ended = recoverTurns(agent, {
    policy: 'resume',
    // The lanes limit the number of turns at work.
    concurrency: turns.length,
    signal: stop.signal,
    onEvent: (event) => {
      begun.get(event.turn)?.();
      onEvent(event);
    },
  }).catch(onProblem);
  await Promise.race([Promise.all(all), ended]);
  return { stop, ended };
};

/** How often messages are tried again whose session is busy with a turn that was resumed, in milliseconds. */
const recoverEveryMs = 500;

/**
 * Delivers the messages of the last process. Those behind a resumed turn follow when it has ended, and those that could
 * not be read when the disk works again.
 */
export const recoverMessages = (
  inbox: Pick<Inbox, 'recover'>,
  sessions: SessionStore,
  onProblem: (error: unknown) => void,
): { readonly begun: Promise<void>; readonly stop: () => void } => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const recover = async (): Promise<void> => {
    const messages = await inbox.recover({ sessions });
    if (messages.some(({ state }) => state === 'left')) again();
  };
  const again = (): void => {
    if (isStopped) return;
    timer = setTimeout(() => {
      recover().catch((error: unknown) => {
        onProblem(error);
        again();
      });
    }, recoverEveryMs);
  };
  const stop = (): void => {
    isStopped = true;
    clearTimeout(timer);
  };
  return { begun: recover(), stop };
};

const runner = (inbox: Inbox, lanes: LocalLanes, resumed: Resumed, unfollow: () => void): TurnRunner => ({
  // Turns that wait would only be interrupted: their messages are stored, and the next process runs them.
  drain: (ms) =>
    pTimeout(lanes.drain({ refuseWaiting: true }), { milliseconds: Math.max(1, ms), fallback: () => undefined }),
  close: async () => {
    resumed.stop.abort(new Error('The station is shutting down.'));
    await Promise.all([inbox.close(), lanes.shutdown({ reason: 'The station is shutting down.' }), resumed.ended]);
    unfollow();
  },
});

const snapshotOf = (lanes: LocalLanes, capacity: number): StationLanes => {
  const now = Date.now();
  const { sessions } = lanes.snapshot();
  return {
    capacity,
    running: sessions.flatMap(({ session, running }) =>
      running ? [{ session, turn: null, since: Math.round(now - running.runningMs), worker: null }] : [],
    ),
    waiting: sessions.flatMap(({ session, waiting }) =>
      waiting.map((each) => ({
        session,
        since: Math.round(now - each.waitedMs),
        priority: each.priority,
        waitsFor: each.for,
        position: each.position,
      })),
    ),
  };
};
