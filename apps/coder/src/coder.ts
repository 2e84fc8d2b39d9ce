import { parseArguments, type CoderArguments } from './arguments.js';
import { banner } from './banner.js';
import { runDemo } from './demo/run-demo.js';
import { startFolder, workFolder } from './folder.js';
import { chooseModel, hasKey } from './model/choose-model.js';
import { openMeter } from './metering.js';
import { readPrompt } from './read-prompt.js';
import { displayFor, type Process } from './streams.js';
import { UsageError } from './usage-error.js';
import { work } from './work.js';

/**
 * Runs the app.
 *
 * @param words the arguments after the program's name
 * @returns the exit code
 * @throws UsageError for what the user can put right
 */
export const runCoder = async (words: readonly string[], process: Process): Promise<number> => {
  const given = parseArguments(words);
  if ('text' in given) {
    process.stdout.write(given.text);
    return 0;
  }
  return isDemo(given, process.env) ? runDemo(given, process) : runReal(given, process);
};

const isDemo = ({ demo, prompt, model, baseUrl, workspace }: CoderArguments, environment: Process['env']): boolean => {
  const isPlain = prompt === undefined && model === undefined && baseUrl === undefined && workspace === undefined;
  if (demo && !isPlain) throw new UsageError('--demo plays a script on a sample project: it takes no prompt, --model, --base-url or --workspace.');
  return demo || (isPlain && !hasKey(environment));
};

const runReal = async (given: CoderArguments, process: Process): Promise<number> => {
  const model = chooseModel({ model: given.model, fallback: given.fallback, baseUrl: given.baseUrl, environment: process.env });
  const workspace = await workFolder(given.workspace, startFolder(process.env, process.cwd()));
  const meter = await openMeter();
  const display = displayFor(process, given, meter);
  const prompt = await readPrompt(given.prompt, process.stdin, display);
  const opening = banner({ model: [model.name, ...model.fallbacks].join(' ▸ '), workspace, sandbox: given.sandbox }, display.palette);
  return work({ given, process, display, workspace, model, meter, prompt, opening });
};
