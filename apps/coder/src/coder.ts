import type { CoderArguments } from './arguments.js';
import { banner } from './banner.js';
import { runDemo } from './demo/run-demo.js';
import { sharedFolderWarning, startFolder, workFolder } from './folder.js';
import { chooseModel, hasKey } from './model/choose-model.js';
import { openMeter } from './metering.js';
import { readPrompt } from './read-prompt.js';
import { displayFor, type Process } from './streams.js';
import { oneLine } from './render/printable.js';
import {
  chooseSession,
  openArtifacts,
  openChildren,
  openSessions,
  sessionLines,
  storageError,
} from './stored-sessions.js';
import { UsageError } from './usage-error.js';
import { work } from './work.js';

/**
 * Runs the app.
 *
 * @returns the exit code
 * @throws UsageError for a problem that the user can fix
 */
export const runCoder = (given: CoderArguments, process: Process): Promise<number> => {
  if (given.sessions) return listSessions(given, process);
  return isDemo(given, process.env) ? runDemo(given, process) : runReal(given, process);
};

const isDemo = (
  { demo, plan, prompt, model, baseUrl, workspace, continue: isContinued, resume }: CoderArguments,
  environment: Process['env'],
): boolean => {
  const isPlain =
    !plan &&
    !isContinued &&
    resume === undefined &&
    prompt === undefined &&
    model === undefined &&
    baseUrl === undefined &&
    workspace === undefined;
  if (demo && !isPlain) {
    throw new UsageError(
      '--demo runs a fixed script. Remove the prompt, --plan, --model, --base-url, --workspace, --continue and --resume.',
    );
  }
  return demo || (isPlain && !hasKey(environment));
};

const runReal = async (given: CoderArguments, process: Process): Promise<number> => {
  const model = chooseModel({
    model: given.model,
    fallback: given.fallback,
    baseUrl: given.baseUrl,
    environment: process.env,
  });
  const workspace = await workFolder(given.workspace, startFolder(process.env, process.cwd()));
  const warn = (text: string): void => void process.stderr.write(`${oneLine(text)}\n`);
  const shared = await sharedFolderWarning(workspace);
  if (shared !== undefined) warn(shared);
  const sessions = openSessions('sessions', workspace, process.env, warn);
  const children = openChildren(workspace, process.env, warn);
  const artifacts = await openArtifacts(workspace, process.env, warn);
  const session = await chooseSession(sessions, given);
  const open =
    given.prompt === undefined
      ? (await sessions.unfinished()).find((turn) => turn.session === session)?.turn
      : undefined;
  const meter = await openMeter();
  const display = displayFor(process, given, meter);
  const goesOn = given.plan || (open !== undefined && display.terminal?.questions === undefined);
  const prompt =
    goesOn && given.prompt === undefined ? undefined : await readPrompt(given.prompt, process.stdin, display);
  const opening = banner(
    { model: [model.name, ...model.fallbacks].join(' ▸ '), workspace, sandbox: given.sandbox },
    display.palette,
  );
  return work({
    given,
    process,
    display,
    workspace,
    sessions,
    children,
    artifacts,
    session,
    open,
    model,
    meter,
    prompt,
    opening,
  }).catch((error: unknown) => {
    throw storageError(error, process.env);
  });
};

const listSessions = async ({ workspace: folder }: CoderArguments, process: Process): Promise<number> => {
  const workspace = await workFolder(folder, startFolder(process.env, process.cwd()));
  const known = await openSessions('sessions', workspace, process.env, (text) =>
    process.stderr.write(`${oneLine(text)}\n`),
  ).list();
  for (const line of known.length === 0 ? ['This folder has no sessions yet.'] : sessionLines(known)) {
    process.stdout.write(`${line}\n`);
  }
  return 0;
};
