import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileApprovalStore, type ApprovalStore, type HookSource } from '@h/hooks';
import { approvals, destructiveCommands } from '@h/hooks/commands';
import { commandHooks, trustFile } from '@h/hooks/files';
import type { ApprovalMode } from './arguments.js';
import { oneLine } from './render/printable.js';
import type { Questioner } from './view/questions.js';

/** What holds for the tool calls of the agent. */
export interface Rules {
  readonly hooks: readonly HookSource[];
  readonly approvalStore: ApprovalStore;
  /** What in the user's hook files was not understood. */
  readonly problems: readonly string[];
  /** A session is over: its hooks are told. */
  endSession(session: string): Promise<void>;
  /** Nothing of the hooks is left running. */
  close(): void;
}

/** What rules are made for. */
export interface RulesWish {
  /** The folder, as an absolute path. */
  readonly workspace: string;
  readonly approve: ApprovalMode;
  readonly environment: NodeJS.ProcessEnv;
  /** Present if somebody can answer. */
  readonly questions: Questioner | undefined;
}

/** The rules of the house: what is refused, what a person is asked about, and the hook files that the user has already. */
export const openRules = async ({ workspace, approve, environment, questions }: RulesWish): Promise<Rules> => {
  const settings = settingsFolder(environment);
  const commands = await commandHooks({
    projectDir: workspace,
    env: environment,
    trust: trustFile({ path: join(settings, 'trusted-hooks.json'), ask: asking(questions) }),
  });
  return {
    hooks: [
      destructiveCommands({ cwd: workspace, doubtful: approve === 'never' ? 'deny' : 'ask' }),
      // What is asked about under `on-risk` is asked about under `never`, too: there the answer is no.
      approvals({ mode: approve === 'always' ? 'always' : 'on-risk', cwd: workspace }),
      commands.hook,
    ],
    approvalStore: fileApprovalStore({ path: join(settings, 'approvals.json') }),
    problems: commands.problems,
    endSession: (session) => commands.endSession(session),
    close: () => commands.close(),
  };
};

/** Where the app keeps what the user has decided: outside of all projects. */
export const settingsFolder = ({ XDG_CONFIG_HOME: folder, HOME: home }: NodeJS.ProcessEnv): string =>
  join(folder === undefined || folder === '' ? join(home ?? homedir(), '.config') : folder, 'h-coder');

const asking =
  (questions: Questioner | undefined): NonNullable<Parameters<typeof trustFile>[0]['ask']> =>
  async ({ definition, change, unknown }) => {
    const what = change === 'changed' ? 'has changed and wants' : 'wants';
    const lines = [
      `? A hook of this project ${what} to run at ${definition.event}: ${oneLine(definition.command)}`,
      ...(change === 'uncertain' ? [`  It may run files that are not known: ${oneLine(unknown.join(' '))}`] : []),
    ];
    return questions !== undefined && (await questions.ask({ lines })).decision !== 'deny';
  };
