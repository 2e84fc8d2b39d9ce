import type { Palette } from './render/palette.js';

/** What is printed before the first turn. */
export interface Surroundings {
  readonly model: string;
  readonly workspace: string;
  readonly sandbox: string;
}

/** The first line: which model works where. */
export const banner = ({ model, workspace, sandbox }: Surroundings, palette: Palette): readonly string[] => [
  `${palette.bold('h coder')}${palette.dim(' · ')}${model}${palette.dim(' · ')}${workspace}${sandbox === 'host' ? '' : `${palette.dim(' · ')}commands in ${sandbox}`}`,
];

/** Said before the demonstration: that nobody thinks here, and that the rest is real. */
export const demoNotice = (folder: string, hasKey: boolean, palette: Palette): readonly string[] => [
  palette.yellow(
    hasKey
      ? 'The model is scripted, as --demo asks for.'
      : 'No API key is set, so the model is scripted: what it says is fixed.',
  ),
  'All else is real: the HTTP requests, the tools, and the project with a failing test in',
  `${folder}, a temporary git repository.`,
  '',
];

/** Said after the demonstration: what to do next. */
export const demoAdvice = (folder: string, palette: Palette): readonly string[] => [
  '',
  palette.dim(`Look at the change:  git -C ${folder} diff`),
  palette.dim('For a real model start Ollama, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or'),
  palette.dim('GOOGLE_GENERATIVE_AI_API_KEY. Then:'),
  palette.dim('  npm start -- --model anthropic/claude-sonnet-4-5 --workspace ../my-repo "fix the failing test"'),
];
