import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { UsageError } from './usage-error.js';

/** Where commands of the model run. */
export const sandboxModes = ['host', 'bubblewrap', 'docker'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** When the user is asked about a tool call. */
export const approvalModes = ['on-risk', 'always', 'never'] as const;
export type ApprovalMode = (typeof approvalModes)[number];

/** What the user asked for on the command line. */
export interface CoderArguments {
  /** What to do; `undefined` for a conversation, `-` to read it from standard input. */
  readonly prompt?: string | undefined;
  readonly model?: string | undefined;
  /** Models that are asked when the first one fails, in order. */
  readonly fallback: readonly string[];
  readonly baseUrl?: string | undefined;
  readonly workspace?: string | undefined;
  readonly sandbox: SandboxMode;
  readonly approve: ApprovalMode;
  readonly image?: string | undefined;
  readonly network: boolean;
  readonly branch: boolean;
  /** Works on a goal over many sessions. */
  readonly plan: boolean;
  /** The command that has to pass before a task of the plan counts as done. */
  readonly check?: string | undefined;
  /** How many sessions a plan may take at a time. */
  readonly maxSessions: number;
  readonly mcp: readonly string[];
  readonly toolset: string;
  readonly maxSteps: number;
  /** The most that everything together may use: US dollars, tokens, minutes of work. */
  readonly maxCost?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly maxMinutes?: number | undefined;
  readonly record?: string | undefined;
  readonly otel?: string | undefined;
  /** Goes on with the latest session of the folder. */
  readonly continue: boolean;
  /** The beginning of the name of the session to go on with. */
  readonly resume?: string | undefined;
  /** Lists the sessions of the folder instead of doing anything. */
  readonly sessions: boolean;
  readonly json: boolean;
  readonly demo: boolean;
}

/** Text that is to be printed instead of doing anything: the help, the version. */
export interface Information {
  readonly text: string;
}

/**
 * Reads the command line.
 *
 * @param words the arguments after the program's name
 * @throws UsageError for an unknown option or a value that an option does not take
 */
export const parseArguments = (words: readonly string[]): CoderArguments | Information => {
  let text = '';
  const command = describeCommand()
    .exitOverride()
    .configureOutput({ writeOut: (piece) => (text += piece), writeErr: () => undefined });
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { text };
    throw new UsageError(messageOf(error), { cause: error });
  }
  const prompt = command.args.join(' ').trim();
  const given: CoderArguments = {
    ...unset,
    ...command.opts<Omit<CoderArguments, 'prompt'>>(),
    ...(prompt !== '' && { prompt }),
  };
  checkPlan(given);
  return given;
};

/** A plan is many sessions on a branch of its own: what does not fit to that is refused, not ignored. */
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
  if (!plan && check !== undefined) refuse('--check belongs to --plan.');
  if (maxSessions < 1) refuse('--max-sessions takes a whole number from 1.');
  if (!plan) return;
  if (branch) refuse('--plan has a branch of its own in any case: leave out --branch.');
  if (isContinued || resume !== undefined) {
    refuse('--plan goes on by itself where the plan of the folder is: leave out --continue and --resume.');
  }
  if (toolset !== 'full') refuse('--plan needs all tools: leave out --toolset.');
  if (demo) refuse('--demo plays a script and has no plan: leave out --plan.');
};

/** What options mean that are not given, where the help need not say it. */
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
      'A coding agent in your terminal. Without a key and without arguments it shows itself on a sample project.',
    )
    .argument('[prompt...]', 'what to do; "-" reads it from standard input; none at all opens a conversation')
    .option('-m, --model <provider/model>', 'the model, such as anthropic/claude-sonnet-4-5 or ollama/llama3.2')
    .option('--fallback <provider/model,…>', 'models to ask when the first one fails', commaSeparated)
    .option('--base-url <url>', "another address of the provider's interface")
    .option('-w, --workspace <folder>', 'the folder to work in (default: the current one)')
    .addOption(new Option('--sandbox <mode>', 'where commands run').choices(sandboxModes).default('host'))
    .option('--image <image>', 'the image of --sandbox docker')
    .option('--network', 'let commands in a sandbox use the network')
    .addOption(
      new Option('--approve <when>', 'when you are asked about a tool call').choices(approvalModes).default('on-risk'),
    )
    .option('--branch', 'work on a git branch of its own and commit what changed')
    .option(
      '--plan',
      'plan first, then work through the tasks over many sessions; without a prompt, go on with the plan of the folder',
    )
    .option(
      '--check <command>',
      'what has to pass before a task of the plan counts as done (default: npm test, if there is one)',
    )
    .option('--max-sessions <count>', 'how many sessions a plan may take', wholeNumber, 100)
    .option('--mcp <command>', 'add the tools of an MCP server that this command starts (may be repeated)', collect)
    .option('--toolset <name>', 'the tools that are offered: full, minimal or read-only', 'full')
    .option('--max-steps <count>', 'how many steps a turn may make', wholeNumber, 50)
    .option('--max-cost <dollars>', 'the most that everything together may cost (default with --plan: 20)', amount)
    .option('--max-tokens <count>', 'the most tokens that may be used (default with --plan: 50000000)', wholeNumber)
    .option('--max-minutes <count>', 'how long turns may take together (default with --plan: 480)', wholeNumber)
    .option('-c, --continue', 'go on with the latest session of the folder')
    .option('--resume <session>', 'go on with a session; the beginning of its name is enough')
    .option('--sessions', 'list the sessions of the folder')
    .option('--record <file>', 'record the turns in a file, for npm run trace')
    .option('--otel <url>', 'send traces and metrics to this OpenTelemetry collector')
    .option('--json', 'print the events of the turn as lines of JSON, and nothing else')
    .option('--demo', 'show the scripted demonstration although a key is set')
    .version('0.1.0')
    .addHelpText('after', `\n${examples}`);

const examples = `Keys come from the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY.

Examples:
  npm start
  npm start -- --model anthropic/claude-sonnet-4-5 --workspace ../my-repo "fix the failing test"
  npm start -- --model ollama/llama3.2 --sandbox bubblewrap
  npm start -- --plan --check "npm test" --workspace ../my-repo "build a command line for the library"

Exit codes: 0 done, 1 error, 2 wrong usage, 3 step limit, 4 budget used up, 5 loop, 6 blocked, 124 timed out, 130 cancelled.`;

const commaSeparated = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== ''),
];

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const wholeNumber = (value: string): number => {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(value);
};

const amount = (value: string): number => {
  if (!/^\d{1,9}(?:\.\d{1,9})?$/.test(value)) throw new InvalidArgumentError('It takes a number, such as 2.50.');
  return Number(value);
};

/** What commander says, on one line and without its prefix. */
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
