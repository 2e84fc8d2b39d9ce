import type { Palette } from './render/palette.js';

/** The values that the banner shows. */
export interface Surroundings {
  readonly model: string;
  readonly workspace: string;
  readonly sandbox: string;
}

/** The first line of the output: model, folder and sandbox. */
export const banner = ({ model, workspace, sandbox }: Surroundings, palette: Palette): readonly string[] => [
  `${palette.bold('h coder')}${palette.dim(' · ')}${model}${palette.dim(' · ')}${workspace}${sandbox === 'host' ? '' : `${palette.dim(' · ')}commands in ${sandbox}`}`,
];

/** The introduction of the demo: which parts are scripted and which are real. */
export const demoNotice = (folder: string, hasKey: boolean, palette: Palette): readonly string[] => [
  palette.yellow(
    hasKey ? 'The model is scripted because of --demo.' : 'No API key is set, so the model follows a fixed script.',
  ),
  'Everything else is real: the HTTP requests, the tools, and the project with a failing test in',
  `${folder}, a temporary git repository.`,
  '',
];

/** The hints after the demo. */
export const demoAdvice = (folder: string, palette: Palette): readonly string[] => [
  '',
  palette.dim(`Show the change:  git -C ${folder} diff`),
  palette.dim('To use a real model, start Ollama or set ANTHROPIC_API_KEY, OPENAI_API_KEY or'),
  palette.dim('GOOGLE_GENERATIVE_AI_API_KEY. Then:'),
  palette.dim('  npm start -- --model anthropic/claude-sonnet-4-5 --workspace ../my-repo "fix the failing test"'),
];
