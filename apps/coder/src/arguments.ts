import { packageVersion } from '@h/files';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { UsageError } from './usage-error.js';

/** Where the commands of the model run. */
const sandboxModes = ['host', 'bubblewrap', 'docker'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** Which tool calls need the approval of the user. */
export const approvalModes = ['on-risk', 'always', 'never'] as const;
export type ApprovalMode = (typeof approvalModes)[number];

/** The tools that the model may use. */
export const toolsets = ['full', 'minimal', 'read-only'] as const;

/** The reasoning effort of the model; `auto` chooses an effort for each turn. */
const reasoningModes = ['auto', 'none', 'low', 'medium', 'high'] as const;
export type ReasoningMode = (typeof reasoningModes)[number];

/** The parsed command line. */
export interface CoderArguments {
  /** The prompt; `undefined` starts a conversation, `-` reads the prompt from standard input. */
  readonly prompt?: string | undefined;
  readonly model?: string | undefined;
  /** Models to fall back to, in order. */
  readonly fallback: readonly string[];
  readonly baseUrl?: string | undefined;
  readonly workspace?: string | undefined;
  readonly sandbox: SandboxMode;
  readonly approve: ApprovalMode;
  readonly image?: string | undefined;
  readonly network: boolean;
  readonly branch: boolean;
  /** Whether to work on a goal over many sessions. */
  readonly plan: boolean;
  /** The command that must pass before a task of the plan counts as done. */
  readonly check?: string | undefined;
  /** The maximum number of sessions per run of a plan. */
  readonly maxSessions: number;
  readonly mcp: readonly string[];
  readonly toolset: string;
  readonly reasoning: ReasoningMode;
  readonly maxSteps: number;
  /** Limits of the whole run: cost in US dollars, tokens, and total duration of the turns in minutes. */
  readonly maxCost?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly maxMinutes?: number | undefined;
  readonly record?: string | undefined;
  readonly otel?: string | undefined;
  /** Whether to continue the latest session of the folder. */
  readonly continue: boolean;
  /** The name of the session to continue, or a unique prefix of the name. */
  readonly resume?: string | undefined;
  /** Whether to list the sessions of the folder and exit. */
  readonly sessions: boolean;
  readonly json: boolean;
  readonly demo: boolean;
}

/** Text to print before exiting: the help or the version. */
export interface Information {
  readonly text: string;
}

/**
 * Parses the command line.
 *
 * @param words the arguments after the program's name
 * @throws UsageError for an unknown option, an invalid value or options that exclude each other
 */
export const parseArguments = (words: readonly string[]): CoderArguments | Information => {
  let text = '';
  const command = describeCommand()
    .exitOverride()
    .configureOutput({ writeOut: (chunk) => (text += chunk), writeErr: () => undefined });
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { text };
    const message = messageOf(error);
    const isUnknown = error instanceof CommanderError && error.code === 'commander.unknownOption';
    const hint = isUnknown && !message.includes('Did you mean') ? '. See --help.' : '';
    throw new UsageError(`${message}${hint}`, { cause: error });
  }
  const prompt = command.args.join(' ').trim();
  const given: CoderArguments = {
    ...unset,
    ...command.opts<Omit<CoderArguments, 'prompt'>>(),
    ...(prompt !== '' && { prompt }),
  };
  if (!given.plan && command.getOptionValueSource('maxSessions') === 'cli') {
    throw new UsageError('--max-sessions requires --plan.');
  }
  checkPlan(given);
  return given;
};

/** Rejects options that conflict with `--plan`, options that require `--plan`, and an invalid `--max-sessions`. */
const checkPlan = ({
  plan,
  check,
  maxSessions,
  branch,
  continue: isContinued,
  resume,
  toolset,
  demo,
}: CoderArguments): void => {
  const refuse = (message: string): never => {
    throw new UsageError(message);
  };
  if (!plan && check !== undefined) refuse('--check requires --plan.');
  if (maxSessions < 1) refuse(`--max-sessions must be at least 1, but is ${maxSessions}.`);
  if (!plan) return;
  if (branch) refuse('--plan always works on its own branch. Remove --branch.');
  if (isContinued || resume !== undefined) {
    refuse('--plan continues the plan of the folder automatically. Remove --continue and --resume.');
  }
  if (toolset !== 'full') refuse('--plan requires the full toolset. Remove --toolset.');
  if (demo) refuse('--demo runs a fixed script. Remove --plan.');
};

/** Defaults that the help does not show. */
const unset = {
  fallback: [],
  continue: false,
  sessions: false,
  network: false,
  branch: false,
  plan: false,
  mcp: [],
  json: false,
  demo: false,
};

const describeCommand = (): Command =>
  new Command('npm start --')
    .description(
      'A coding agent in your terminal. Without arguments and without an API key, it runs a demo on a sample project.',
    )
    .argument('[prompt...]', 'the task; "-" reads standard input; without a prompt, a conversation starts')
    .option('-m, --model <provider/model>', 'the model, such as anthropic/claude-sonnet-4-5 or ollama/llama3.2')
    .option('--fallback <provider/model,…>', 'models to fall back to, in order', commaSeparated)
    .option('--base-url <url>', 'base URL of the provider API')
    .option('-w, --workspace <folder>', 'the folder to work in (default: the current folder)')
    .addOption(new Option('--sandbox <mode>', 'where commands run').choices(sandboxModes).default('host'))
    .option('--image <image>', 'the container image for --sandbox docker')
    .option('--network', 'allow commands in the sandbox to use the network')
    .addOption(
      new Option('--approve <when>', 'which tool calls need your approval').choices(approvalModes).default('on-risk'),
    )
    .option('--branch', 'work on a new git branch and commit the changes')
    .option(
      '--plan',
      'plan first, then work through the tasks over many sessions; without a prompt, continue the plan of the folder',
    )
    .option(
      '--check <command>',
      'command that must pass before a task counts as done (default: npm test, if package.json defines it)',
    )
    .option('--max-sessions <count>', 'maximum number of sessions per run of a plan', wholeNumber, 100)
    .option('--mcp <command>', 'add the tools of an MCP server, given as a command or a URL (repeatable)', collect)
    .addOption(new Option('--toolset <name>', 'the tools of the model').choices(toolsets).default('full'))
    .addOption(
      new Option('--reasoning <effort>', 'the reasoning effort of the model').choices(reasoningModes).default('auto'),
    )
    .option('--max-steps <count>', 'maximum number of steps per turn', wholeNumber, 50)
    .option('--max-cost <dollars>', 'maximum cost of the run in US dollars (default with --plan: 20)', amount)
    .option('--max-tokens <count>', 'maximum number of tokens of the run (default with --plan: 50000000)', wholeNumber)
    .option('--max-minutes <count>', 'maximum duration of all turns in minutes (default with --plan: 480)', wholeNumber)
    .option('-c, --continue', 'continue the latest session of the folder')
    .option('--resume <session>', 'continue a session; a unique prefix of its name is enough')
    .option('--sessions', 'list the sessions of the folder')
    .option('--record <file>', 'record the turns in a file for npm run trace')
    .option('--otel <url>', 'send traces and metrics to this OpenTelemetry collector')
    .option('--json', 'print only the events of the turn, as JSON lines')
    .option('--demo', 'run the scripted demo even if an API key is set')
    .version(packageVersion(import.meta.url))
    .addHelpText('after', `\n${examples}`);

const examples = `API keys come from the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY.

Examples:
  npm start
  npm start -- --model anthropic/claude-sonnet-4-5 --workspace ../my-repo "fix the failing test"
  npm start -- --model ollama/llama3.2 --sandbox bubblewrap
  npm start -- --plan --check "npm test" --workspace ../my-repo "add a command-line interface to the library"

Exit codes: 0 done, 1 error, 2 usage error, 3 step limit, 4 budget exceeded, 5 loop, 6 blocked,
124 timed out, 130 cancelled.`;

const commaSeparated = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== ''),
];

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const wholeNumber = (value: string): number => {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError('Expected a whole number.');
  return Number(value);
};

const amount = (value: string): number => {
  if (!/^\d{1,9}(?:\.\d{1,9})?$/.test(value)) throw new InvalidArgumentError('Expected a number such as 2.50.');
  return Number(value);
};

/** Returns the error message of commander on one line, without the prefix `error: `. */
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
