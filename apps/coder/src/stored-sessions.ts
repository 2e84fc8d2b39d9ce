import { createHash, randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import { fileSessions, type FileSessions, type SessionInfo, type SessionProblem } from '@h/session';
import type { ChildStore, KeepSessions } from '@h/subagents';
import { fileChildStore } from '@h/subagents/file-store';
import { InvalidOptionError } from '@h/options';
import { userFolder } from '@h/process';
import { fileArtifacts, memoryArtifacts, type ArtifactStore } from '@h/tools';
import type { SessionStore } from '@h/turn';
import type { CoderArguments } from './arguments.js';
import { reasonOf } from './folder.js';
import { clipped } from './render/fit.js';
import { oneLine } from './render/printable.js';
import { counted } from './render/quantity.js';
import { isFull } from './signals.js';
import { UsageError } from './usage-error.js';

/** The stored state of sub-agents. */
export interface Children {
  /** Their sessions, separate from the sessions of the user. */
  readonly sessions: SessionStore;
  /** The running sub-agents. */
  readonly store?: ChildStore | undefined;
  /** The retention of ended sub-agents. */
  readonly keepSessions?: KeepSessions | undefined;
  close(): Promise<void>;
}

/** The state folder of a workspace, outside the workspace. */
export const stateFolder = (
  kind: 'sessions' | 'agents' | 'spawned' | 'artifacts' | 'plans',
  workspace: string,
  environment: NodeJS.ProcessEnv,
): string => {
  const name = `${basename(workspace)}-${createHash('sha256').update(workspace).digest('hex').slice(0, 8)}`;
  return join(userFolder('XDG_STATE_HOME', environment), 'h-coder', kind, name);
};

/** Returns the error of a run; that of a full disk names the folder of the state. */
export const storageError = (error: unknown, environment: NodeJS.ProcessEnv): unknown => {
  if (!(error instanceof Error) || !isFull(error)) return error;
  const folder = join(userFolder('XDG_STATE_HOME', environment), 'h-coder');
  return new Error(
    `The disk is full (${error.message}). Sessions are stored in ${folder}. Free space, or set XDG_STATE_HOME to a folder on another disk.`,
    { cause: error },
  );
};

/** Opens the sessions of a workspace or of its sub-agents, stored in files outside the workspace. */
export const openSessions = (
  kind: 'sessions' | 'agents',
  workspace: string,
  environment: NodeJS.ProcessEnv,
  warn: (text: string) => void,
): FileSessions =>
  fileSessions({
    directory: stateFolder(kind, workspace, environment),
    onProblem: (problem) => warn(problemText(problem)),
  });

/** Describes damage in the files of a session, what is lost, and where a copy of it is. */
export const problemText = ({ kind, session, message, backup, bytes }: SessionProblem): string => {
  const isCut = kind === 'torn-record' || kind === 'corrupt-journal';
  return [
    `${session === '' ? '' : `Session ${session} is damaged: `}${message}`,
    ...(isCut ? [`It continues before the damage, without its last ${counted(bytes, 'byte')}.`] : []),
    ...(backup === undefined ? [] : [`A copy is in ${backup}.`]),
  ].join(' ');
};

/**
 * Opens the artifact store: files, or memory if the state folder is in a git repository.
 *
 * @throws UsageError if the folder cannot be written
 */
export const openArtifacts = async (
  workspace: string,
  environment: NodeJS.ProcessEnv,
  warn: (text: string) => void,
): Promise<ArtifactStore> => {
  const directory = stateFolder('artifacts', workspace, environment);
  try {
    return await fileArtifacts({ directory });
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) {
      throw new UsageError(
        `Cannot write to ${directory}: ${reasonOf(error)}. Set XDG_STATE_HOME to a folder that can be written.`,
        { cause: error },
      );
    }
    warn(`Long tool results are kept in memory and are lost when this process exits: ${error.message}`);
    return memoryArtifacts();
  }
};

/** Number of sub-agent sessions to keep for inspection. */
const keptChildSessions = 100;

/** Opens the stores of sub-agents: their sessions and the list of running sub-agents. */
export const openChildren = (
  workspace: string,
  environment: NodeJS.ProcessEnv,
  warn: (text: string) => void,
): Children => {
  const sessions = openSessions('agents', workspace, environment, warn);
  const store = fileChildStore({
    directory: stateFolder('spawned', workspace, environment),
    onProblem: ({ message }) => warn(message),
  });
  return { sessions, store, keepSessions: { latest: keptChildSessions, store: sessions }, close: () => store.close() };
};

/**
 * Returns the name of the session: a new one, the latest, or the one with the given prefix.
 *
 * @throws UsageError if no session matches, or more than one
 */
export const chooseSession = async (
  sessions: FileSessions,
  { continue: isContinued, resume }: Pick<CoderArguments, 'continue' | 'resume'>,
): Promise<string> => {
  if (isContinued && resume !== undefined) {
    throw new UsageError('--continue and --resume exclude each other. Pass one of them.');
  }
  if (!isContinued && resume === undefined) return newSession();
  const known = await sessions.list();
  if (resume === undefined) {
    const latest = known.find(({ state }) => state !== 'damaged');
    if (latest === undefined) {
      throw new UsageError('--continue: this folder has no sessions yet. Pass a prompt to start one.');
    }
    return latest.session;
  }
  const meant = known.filter(({ session }) => session.startsWith(resume));
  const [found] = meant;
  if (found === undefined) {
    throw new UsageError(
      `--resume: this folder has no session ${JSON.stringify(resume)}. --sessions lists the sessions.`,
    );
  }
  if (meant.length > 1 && found.session !== resume) {
    throw new UsageError(
      `--resume: ${meant.length} sessions begin with ${JSON.stringify(resume)}. --sessions lists the sessions.`,
    );
  }
  return found.session;
};

/** Formats the sessions, one line each. */
export const sessionLines = (known: readonly SessionInfo[]): readonly string[] =>
  known.map(({ session, updatedAt, turns, firstInput, state }) => {
    const remark = state === 'idle' ? '' : ` (${state})`;
    return `${session}  ${new Date(updatedAt).toISOString().slice(0, 16).replace('T', ' ')}  ${counted(turns, 'turn').padStart(8)}  ${clipped(oneLine(firstInput), 60)}${remark}`;
  });

/** Creates a session name that sorts by time, with a random suffix. */
export const newSession = (): string =>
  `${new Date().toISOString().slice(0, 19).replaceAll(':', '')}-${randomBytes(2).toString('hex')}`;
