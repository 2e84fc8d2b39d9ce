import { rm } from 'node:fs/promises';
import { memoryArtifacts } from '@h/tools';
import { memorySessions } from '@h/turn';
import type { CoderArguments } from '../arguments.js';
import { banner, demoAdvice, demoNotice } from '../banner.js';
import { hasKey } from '../model/choose-model.js';
import { openMeter } from '../metering.js';
import { displayFor, type Process } from '../streams.js';
import { work } from '../work.js';
import { demoPrompt } from './conversation.js';
import { createSampleProject } from './sample-project.js';
import { preloadScriptedModel, startScriptedModel } from './scripted-model.js';

/**
 * Runs the agent on a sample project with a scripted model.
 *
 * @returns the exit code
 */
export const runDemo = async (given: CoderArguments, process: Process): Promise<number> => {
  const meter = await openMeter();
  const display = displayFor(process, given, meter);
  const { view, palette } = display;
  preloadScriptedModel();
  const workspace = await createSampleProject();
  const model = await startScriptedModel();
  const opening = [
    ...banner({ model: 'scripted model', workspace, sandbox: given.sandbox }, palette),
    ...demoNotice(workspace, hasKey(process.env), palette),
    `${palette.cyan('›')} ${palette.bold(demoPrompt)}`,
    '',
  ];
  try {
    const code = await work({
      given,
      process,
      display,
      workspace,
      sessions: memorySessions(),
      children: { sessions: memorySessions(), close: () => Promise.resolve() },
      artifacts: memoryArtifacts(),
      session: 'demo',
      model,
      meter,
      prompt: demoPrompt,
      opening,
    });
    view.say(demoAdvice(workspace, palette));
    return code;
  } catch (error) {
    // The turn did not start, so the project is unchanged.
    await rm(workspace, { recursive: true, force: true });
    throw error;
  } finally {
    await model.close();
  }
};
