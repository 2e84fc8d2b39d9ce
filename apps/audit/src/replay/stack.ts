import { pathToFileURL } from 'node:url';
import { compaction } from '@h/compaction';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { destructiveCommands } from '@h/hooks/commands';
import { loopDetect } from '@h/loop-detect';
import { security } from '@h/security';
import { tools } from '@h/tools';
import type { PipelineOperator } from '@h/turn';

/** Creates the operators of a pipeline; each session has separate ones. */
export type Stack = () => readonly PipelineOperator[];

/** Transcripts rarely name the folder of a session; any folder that is neither a home nor a system folder will do. */
const cwd = '/project';
const contextWindow = 200_000;

/** The packages that change what a run does, at their defaults. */
export const defaultStack: Stack = () => [
  guardrails(),
  hooks([destructiveCommands({ cwd })]),
  compaction({ window: contextWindow }),
  loopDetect(),
  tools({ contextWindow }),
  // The same markers in each run, so that a report can be compared with the one before.
  security({ createId: () => 'a1b2c3d4e5f60718' }),
];

/**
 * Loads a stack from a module whose default export is a function that returns operators.
 *
 * @throws Error if the module cannot be loaded, or exports something else
 */
export const loadStack = async (path: string): Promise<Stack> => {
  const { default: stack } = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  if (typeof stack !== 'function') {
    throw new Error(
      `${path} has no default export that is a function. Export \`() => [loopDetect(), …]\` as the default.`,
    );
  }
  const make = stack as () => unknown;
  return () => {
    const operators = make();
    if (!Array.isArray(operators) || !operators.every((operator) => typeof operator === 'function')) {
      throw new Error(`The function of ${path} must return a list of operators, such as \`[loopDetect()]\`.`);
    }
    return operators as readonly PipelineOperator[];
  };
};
