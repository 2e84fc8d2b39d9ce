import { join } from 'node:path';
import type { ApprovalStore, HookSource } from '@h/hooks';
import { approvals, destructiveCommands } from '@h/hooks/commands';
import { commandHooks, fileApprovalStore, trustFile, type TrustQuestion } from '@h/hooks/files';
import { visibleLine } from '@h/options';
import { userFolder } from '@h/process';
import type { ApprovalMode } from '../arguments.js';
import type { Questioner } from '../view/questions.js';

/** The rules for tool calls. */
export interface Rules {
  readonly hooks: readonly HookSource[];
  readonly approvalStore: ApprovalStore;
  /** Problems in the hook files. */
  readonly problems: readonly string[];
  /** Runs the hooks for the end of a session. */
  endSession(session: string): Promise<void>;
  /** Ends all running hooks. */
  close(): void;
}

/** Options of {@link openRules}. */
export interface RulesOptions {
  /** The folder to work in, as an absolute path. */
  readonly workspace: string;
  readonly approve: ApprovalMode;
  readonly environment: NodeJS.ProcessEnv;
  /** Present if a terminal is attached. */
  readonly questions: Questioner | undefined;
}

/** Opens the rules: the command policy, the approvals and the hook files of the user and the project. */
export const openRules = async ({ workspace, approve, environment, questions }: RulesOptions): Promise<Rules> => {
  const settings = settingsFolder(environment);
  const commands = await commandHooks({
    projectDir: workspace,
    env: environment,
    trust: trustFile({ path: join(settings, 'trusted-hooks.json'), ask: asking(questions) }),
  });
  return {
    hooks: [
      destructiveCommands({ cwd: workspace, doubtful: approve === 'never' ? 'deny' : 'ask' }),
      // `never` asks about the same calls as `on-risk`; the questioner then denies each request.
      approvals({ mode: approve === 'always' ? 'always' : 'on-risk', cwd: workspace }),
      commands.hook,
    ],
    approvalStore: fileApprovalStore({ path: join(settings, 'approvals.json') }),
    problems: commands.problems,
    endSession: (session) => commands.endSession(session),
    close: () => commands.close(),
  };
};

/** The folder of the user's decisions, outside all projects. */
export const settingsFolder = (environment: NodeJS.ProcessEnv): string =>
  join(userFolder('XDG_CONFIG_HOME', environment), 'h-coder');

const asking =
  (questions: Questioner | undefined): NonNullable<Parameters<typeof trustFile>[0]['ask']> =>
  async (question) =>
    questions !== undefined && (await questions.ask({ lines: trustLines(question) })).decision !== 'deny';

/** Returns the lines of a question about a hook: what runs, as it runs. */
export const trustLines = ({ definition, change, unknown }: TrustQuestion): readonly string[] => {
  const { event, command, args } = definition;
  const what = change === 'changed' ? 'has changed and wants' : 'wants';
  const shown = visibleLine(args === undefined ? command : JSON.stringify([command, ...args]));
  return [
    `? A hook of this project ${what} to run at ${event}: ${shown}`,
    ...(change === 'uncertain' ? [`  It may run unknown files: ${visibleLine(unknown.join(' '))}`] : []),
  ];
};
