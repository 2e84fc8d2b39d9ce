import type { Lanes } from '@h/queue';
import { wrapExternal } from '@h/security';
import { subagents, unrestricted, type AgentKind, type Subagents, type SubagentsOptions } from '@h/subagents';
import type { ArtifactStore } from '@h/tools';
import type { Children } from '../stored-sessions.js';

/** Options of {@link createTeam}. */
export interface TeamParts {
  /** The folder to work in, as an absolute path. */
  readonly workspace: string;
  readonly lanes: Lanes;
  readonly artifacts: ArtifactStore;
  /** The stored state of sub-agents. */
  readonly children: Children;
  /** Creates an explorer. */
  readonly createExplorer: AgentKind['create'];
  readonly onEvent: NonNullable<SubagentsOptions['onEvent']>;
}

/** Creates the sub-agents that the agent may delegate to. */
export const createTeam = ({
  workspace,
  lanes,
  artifacts,
  children: { store, keepSessions },
  createExplorer,
  onEvent,
}: TeamParts): Subagents =>
  subagents({
    agents: {
      explore: {
        description:
          'Reads the code and its history, and reports its findings. It cannot change files or run commands. Ask broad questions, and start several explorers at once if their questions are independent.',
        policy: { tools: explorerTools, read: [workspace], write: [], hosts: [], sandbox: 'read-only' },
        create: createExplorer,
      },
    },
    policy: unrestricted,
    // An explorer cannot start sub-agents.
    limits: { depth: 1 },
    lanes,
    artifacts,
    store,
    keepSessions,
    wrap: wrapExternal,
    onEvent,
  });

const explorerTools = ['glob', 'grep', 'read', 'read_artifact', 'git_status', 'git_diff', 'git_log'];
