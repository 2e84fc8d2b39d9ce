import { createHash, randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { fileSessions, type FileSessions, type SessionInfo } from '@h/session';
import type { ChildStore, KeepSessions } from '@h/subagents';
import { fileChildStore } from '@h/subagents/file-store';
import { InvalidOptionError } from '@h/options';
import { fileArtifacts, memoryArtifacts, type ArtifactStore } from '@h/tools';
import type { SessionStore } from '@h/turn';
import type { CoderArguments } from './arguments.js';
import { clipped } from './render/fit.js';
import { oneLine } from './render/printable.js';
import { counted } from './render/quantity.js';
import { UsageError } from './usage-error.js';

/** What is kept of sub-agents. */
export interface Children {
  /** Their sessions, which are not among those that a user goes on with. */
  readonly sessions: SessionStore;
  /** Which of them are under way. */
  readonly store?: ChildStore | undefined;
  /** How many of those that have ended are kept. */
  readonly keepSessions?: KeepSessions | undefined;
  close(): Promise<void>;
}

/** Where the app keeps what belongs to a folder: outside of it, and of all repositories. */
export const stateFolder = (
  kind: 'sessions' | 'agents' | 'spawned' | 'artifacts',
  workspace: string,
  { XDG_STATE_HOME: state, HOME: home }: NodeJS.ProcessEnv,
): string => {
  const base = state === undefined || state === '' ? join(home ?? homedir(), '.local', 'state') : state;
  const name = `${basename(workspace)}-${createHash('sha256').update(workspace).digest('hex').slice(0, 8)}`;
  return join(base, 'h-coder', kind, name);
};

/** The sessions of a folder, or those of its sub-agents, in files outside of it. */
export const openSessions = (
  kind: 'sessions' | 'agents',
  workspace: string,
  environment: NodeJS.ProcessEnv,
  warn: (text: string) => void,
): FileSessions =>
  fileSessions({ directory: stateFolder(kind, workspace, environment), onProblem: ({ message }) => warn(message) });

/** What was too long to be read at once, in files; in memory where they would lie in a git repository, which they must not get into. */
export const openArtifacts = async (
  workspace: string,
  environment: NodeJS.ProcessEnv,
  warn: (text: string) => void,
): Promise<ArtifactStore> => {
  try {
    return await fileArtifacts({ directory: stateFolder('artifacts', workspace, environment) });
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    warn(`Long results end with this process: ${error.message}`);
    return memoryArtifacts();
  }
};

/** How many sessions of sub-agents are kept, for whoever wants to look at what they did. */
const keptChildSessions = 100;

/** What sub-agents leave behind: their sessions, and what is under way. */
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
 * The name of the session that the user means: a new one, the latest, or the one whose name begins like this.
 *
 * @throws UsageError where there is none, or more than one
 */
export const chooseSession = async (
  sessions: FileSessions,
  { continue: isContinued, resume }: Pick<CoderArguments, 'continue' | 'resume'>,
): Promise<string> => {
  if (isContinued && resume !== undefined) {
    throw new UsageError('--continue takes the latest session, --resume the one that you name: give one of them.');
  }
  if (!isContinued && resume === undefined) return newSession();
  const known = await sessions.list();
  if (resume === undefined) {
    const [latest] = known;
    if (latest === undefined) throw new UsageError('--continue: there is no session of this folder yet.');
    return latest.session;
  }
  const meant = known.filter(({ session }) => session.startsWith(resume));
  const [found] = meant;
  if (found === undefined) {
    throw new UsageError(`--resume: this folder has no session ${JSON.stringify(resume)}; --sessions lists them.`);
  }
  if (meant.length > 1 && found.session !== resume) {
    throw new UsageError(
      `--resume: ${meant.length} sessions begin with ${JSON.stringify(resume)}; --sessions lists them.`,
    );
  }
  return found.session;
};

/** One line for each session, the latest first. */
export const sessionLines = (known: readonly SessionInfo[]): readonly string[] =>
  known.map(({ session, updatedAt, turns, firstInput, state }) => {
    const remark = state === 'idle' ? '' : ` (${state})`;
    return `${session}  ${new Date(updatedAt).toISOString().slice(0, 16).replace('T', ' ')}  ${counted(turns, 'turn').padStart(8)}  ${clipped(oneLine(firstInput), 60)}${remark}`;
  });

/** A name for a session. It sorts by time, and tells two apart that began in the same second. */
export const newSession = (): string =>
  `${new Date().toISOString().slice(0, 19).replaceAll(':', '')}-${randomBytes(2).toString('hex')}`;
