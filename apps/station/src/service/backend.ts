import type { LiveEvents } from '@h/postgres';
import type { Lanes } from '@h/queue';
import type { SendOptions } from '@h/queue/inbox';
import type { FileSessions } from '@h/session';
import type { ArtifactStore } from '@h/tools';
import type { Agent, SessionStore, TurnEvent, UserMessage } from '@h/turn';
import type { StationLanes } from '../api/contract.js';
import type { Records } from './records.js';

/** What the service reads and deletes in the session store, besides what agents need. */
export type StationSessions = SessionStore & Pick<FileSessions, 'messages' | 'archive' | 'delete'>;

/** Where sessions and artifacts are stored. */
export interface Stores {
  readonly sessions: StationSessions;
  readonly artifacts: ArtifactStore;
  /** How long sessions are kept after their last use. @defaultValue until a user deletes them */
  readonly retention?: Retention | undefined;
  /** @throws if the stores cannot be used */
  check?(): Promise<void>;
  close?(): Promise<void>;
}

/** A limit on the time for which sessions are kept. */
export interface Retention {
  readonly ms: number;
  /** Removes expired sessions and artifacts that no record names, such as those of sub-agents. */
  sweep(): Promise<void>;
}

/** Runs turns in this process. */
export interface TurnRunner {
  /** Resolves when no turn runs here, or after this time. Turns that remain are resumed by the next process. */
  drain(ms: number): Promise<void>;
  /** Stops accepting messages, and ends what runs. */
  close(): Promise<void>;
}

/**
 * Where the service keeps its data, and how messages reach the processes that run turns: files and this process
 * (`embeddedBackend`), or PostgreSQL and several processes (`postgresBackend`).
 */
export interface Backend extends Pick<Stores, 'sessions' | 'artifacts' | 'retention'> {
  readonly records: Records;
  readonly events: LiveEvents;
  readonly lanes: Lanes;
  /** Number of turns that run at once, over all processes. */
  readonly capacity: number;
  /** Stores a message for delivery. A message with a known id is not delivered again. @returns whether it is stored */
  submit(session: string, message: UserMessage, options: SendOptions & { readonly id: string }): Promise<boolean>;
  /** Resumes the turns of dead processes, and begins to run turns. */
  run(agent: Agent, onEvent: (event: TurnEvent) => void): Promise<TurnRunner>;
  /** Whether a turn that ended here with this error continues in another process. */
  isHandedOver(code: string | undefined): boolean;
  /** Returns the fence of a session that this process holds; each claim of a session has a larger one. */
  fenceOf?(session: string): number | undefined;
  /** Returns which sessions run and wait. Without this method, the states of sessions are shown. */
  lanesSnapshot?(): StationLanes;
  /** @throws if the backend cannot serve requests */
  check(): Promise<void>;
  close(): Promise<void>;
}
