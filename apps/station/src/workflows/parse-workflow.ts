import { ConfigError, parseConfig, type ConfigFile, type ConfigPath, type ConfigProblem } from '@h/config';
import { nearestName } from '@h/options';
import { filesIn } from '../agents/agent-file.js';
import { readText } from '../config/load-config.js';
import { endState, targetsOf, workflowSchema, type Workflow, type WorkflowState } from './schema.js';
import { pathsIn } from './values.js';

/** A workflow and the file that it was read from. */
export interface WorkflowFile {
  readonly workflow: Workflow;
  readonly source: ConfigFile;
}

/**
 * Parses a workflow.
 *
 * @param agents names of the agents that exist
 * @throws ConfigError for an unknown key, state or agent, a state that no transition reaches, a state from which the
 * run cannot end, and choices of which none may apply
 */
export const parseWorkflow = (text: string, file: string, agents: readonly string[]): WorkflowFile => {
  const source = parseConfig(text, file);
  const workflow = source.check(workflowSchema);
  const problems = problemsOf(workflow, agents, source);
  if (problems.length > 0) throw new ConfigError(problems);
  return { workflow, source };
};

/**
 * Reads the workflows of a folder: `*.yaml` and `*.yml`.
 *
 * @throws ConfigError with the problems of all files
 */
export const readWorkflows = (folder: string, agents: readonly string[]): readonly WorkflowFile[] => {
  const problems: ConfigProblem[] = [];
  const found = new Map<string, WorkflowFile>();
  for (const file of filesIn(folder, /\.ya?ml$/)) {
    try {
      const one = parseWorkflow(readText(file), file, agents);
      const other = found.get(one.workflow.id);
      if (other !== undefined) {
        problems.push(one.source.problem(['id'], `the id ${one.workflow.id} is also that of ${other.source.file}.`));
      }
      found.set(one.workflow.id, one);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return [...found.values()];
};

const problemsOf = (workflow: Workflow, agents: readonly string[], source: ConfigFile): readonly ConfigProblem[] => {
  const { states } = workflow;
  const names = states.map(({ name }) => name);
  const reachable = closure([names[0] ?? ''], (name) => targets(states, name));
  const ending = closure([endState], (name) =>
    states.filter((state) => targetsOf(state).includes(name)).map((state) => state.name),
  );
  return states.flatMap((state, index) => {
    const at = (path: ConfigPath, message: string): ConfigProblem =>
      source.problem(['states', index, ...path], message);
    const problems = [
      ...unknownTargets(state, names).map(({ path, target }) =>
        at(path, `the state "${target}" does not exist. ${suggestion(target, [...names, endState])}`),
      ),
      ...stepsOf(state).flatMap(({ path, agent }) =>
        agents.includes(agent)
          ? []
          : [at([...path, 'agent'], `the agent "${agent}" does not exist. ${suggestion(agent, agents)}`)],
      ),
      ...unknownValues(state, names).map(({ path, value }) =>
        at(path, `"${value}" is neither "input" nor the output of a state. ${suggestion(value, ['input', ...names])}`),
      ),
    ];
    if (names.indexOf(state.name) !== index) problems.push(at(['name'], `two states have the name "${state.name}".`));
    if (!reachable.has(state.name)) {
      problems.push(at(['name'], `no transition leads to the state "${state.name}". Remove it, or add a transition.`));
    }
    if (problems.length === 0 && !ending.has(state.name)) {
      problems.push(
        at(['transition'], `the run cannot end after the state "${state.name}": no transition leads to "end".`),
      );
    }
    if (Array.isArray(state.transition) && state.transition.at(-1)?.when !== undefined) {
      const path = ['transition', state.transition.length - 1, 'when'];
      problems.push(at(path, 'no choice may apply. End the list with a choice that has no condition.'));
    }
    return problems;
  });
};

const targets = (states: readonly WorkflowState[], name: string): readonly string[] =>
  states.filter((state) => state.name === name).flatMap(targetsOf);

const closure = (from: readonly string[], next: (name: string) => readonly string[]): ReadonlySet<string> => {
  const found = new Set(from);
  for (const name of found) for (const other of next(name)) found.add(other);
  return found;
};

const unknownTargets = (
  state: WorkflowState,
  names: readonly string[],
): readonly { readonly path: ConfigPath; readonly target: string }[] => {
  const { transition, on_error: onError } = state;
  const all: readonly { readonly path: ConfigPath; readonly target: string }[] = [
    ...(typeof transition === 'string'
      ? [{ path: ['transition'], target: transition }]
      : transition.map(({ to }, index) => ({ path: ['transition', index, 'to'], target: to }))),
    ...(onError === undefined ? [] : [{ path: ['on_error'], target: onError }]),
    ...(state.type === 'approval' && state.denied !== undefined ? [{ path: ['denied'], target: state.denied }] : []),
  ];
  return all.filter(({ target }) => target !== endState && !names.includes(target));
};

const stepsOf = (
  state: WorkflowState,
): readonly { readonly path: ConfigPath; readonly agent: string; readonly input: string }[] => {
  if (state.type === 'agent') return [{ path: [], agent: state.agent, input: state.input }];
  if (state.type !== 'parallel') return [];
  return state.branches.map(({ agent, input }, index) => ({ path: ['branches', index], agent, input }));
};

const unknownValues = (
  state: WorkflowState,
  names: readonly string[],
): readonly { readonly path: ConfigPath; readonly value: string }[] => {
  const conditions =
    typeof state.transition === 'string'
      ? []
      : state.transition.flatMap(({ when }, index) =>
          when === undefined ? [] : [{ path: ['transition', index, 'when', 'value'], value: when.value }],
        );
  const texts = [
    ...stepsOf(state).map(({ path, input }) => ({ path: [...path, 'input'], text: input })),
    ...(state.type === 'approval' ? [{ path: ['message'], text: state.message }] : []),
  ];
  const inserted = texts.flatMap(({ path, text }) => pathsIn(text).map((value) => ({ path, value })));
  return [...conditions, ...inserted]
    .map(({ path, value }) => ({ path, value: value.split('.')[0] ?? '' }))
    .filter(({ value }) => value !== 'input' && !names.includes(value));
};

const suggestion = (name: string, known: readonly string[]): string => {
  const near = nearestName(name, known);
  return near === undefined ? `Known: ${known.join(', ')}.` : `Did you mean "${near}"?`;
};
