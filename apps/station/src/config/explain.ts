import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ConfigError, keysOf, type ConfigProblem } from '@h/config';
import { readAgentFiles, type AgentFile } from '../agents/agent-file.js';
import { stationAgents } from '../agents/station-agents.js';
import { scheduleOf } from '../triggers/schedule.js';
import { triggerProblems } from '../triggers/trigger-problems.js';
import { readWorkflows, type WorkflowFile } from '../workflows/parse-workflow.js';
import { loadConfig, type LoadedConfig } from './load-config.js';
import { configSchema, type SandboxConfig } from './schema.js';
import { serviceSettings } from './service-settings.js';
import { showDuration } from './units.js';

/** What a configuration means, and what will not work. */
export interface Explanation {
  /** Lines to print: every key with its value and origin, the agents, the workflows and the next ticks. */
  readonly lines: readonly string[];
  /** Reasons why station does not start with it. */
  readonly problems: readonly string[];
  /** Settings that have no effect here, or less than they seem to. */
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Explains a configuration file with its agent files and workflows. Nothing is started. */
export const explainConfig = (file: string, environment: Environment): Explanation => {
  const problems: string[] = [];
  const add = (found: readonly ConfigProblem[]): void => {
    problems.push(...found.map(({ file: at, line, column, message }) => `${at}:${line}:${column}: ${message}`));
  };
  const attempt = <Value>(read: () => Value, otherwise: Value): Value => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      add(error.problems);
      return otherwise;
    }
  };
  const loaded = attempt<LoadedConfig | undefined>(() => loadConfig(file), undefined);
  if (loaded === undefined) return { lines: [], problems, warnings: [] };
  const { config } = loaded;
  const files = attempt<readonly AgentFile[]>(() => readAgentFiles(config.agents), []);
  const names = files.map(({ name }) => name);
  const workflows = attempt<readonly WorkflowFile[]>(() => readWorkflows(config.workflows, names), []);
  attempt(() => serviceSettings(config, loaded.source, environment), undefined);
  const agents = files.flatMap((one) => attempt(() => stationAgents(config, [one], { environment }), []));
  const targets = { agents: names, workflows: workflows.map(({ workflow }) => workflow.id) };
  add(triggerProblems(loaded, targets, environment));
  return {
    problems,
    warnings: warningsOf(loaded, files, environment),
    lines: [
      ...valuesOf(loaded),
      ...agents.map(({ name, model }) => `agent ${name}: ${model}`),
      ...workflows.map(
        ({ workflow: { id, states } }) => `workflow ${id}: ${states.map(({ name }) => name).join(', ')}`,
      ),
      ...ticksOf(loaded),
    ],
  };
};

const valueAt = (value: unknown, path: readonly string[]): unknown => {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
};

const valuesOf = ({ config, source }: LoadedConfig): readonly string[] =>
  keysOf(configSchema)
    .filter(({ key }) => !key.includes('*'))
    .map(({ key, defaultValue }) => {
      const path = key.split('.');
      const written = valueAt(source.value, path);
      const value = valueAt(config, path);
      const isDuration = typeof value === 'number' && /^"\d+(?:ms|s|m|h|d)"$/.test(defaultValue ?? '');
      const shown = value === undefined ? 'not set' : isDuration ? showDuration(value) : JSON.stringify(value);
      return `${key} = ${shown}${written === undefined ? ' (default)' : ''}`;
    });

const ticksOf = ({ config }: LoadedConfig): readonly string[] =>
  Object.entries(config.triggers).flatMap(([name, trigger]) => {
    if (trigger.type !== 'cron' && trigger.type !== 'heartbeat') return [];
    try {
      const next = scheduleOf(trigger).next(Date.now());
      return [`trigger ${name}: next at ${next === undefined ? 'no time' : new Date(next).toISOString()}`];
    } catch {
      return [];
    }
  });

const programs: Readonly<Record<SandboxConfig['mode'], string | undefined>> = {
  host: undefined,
  bubblewrap: 'bwrap',
  docker: 'docker',
  e2b: undefined,
};

const warningsOf = (
  { config }: LoadedConfig,
  files: readonly AgentFile[],
  environment: Environment,
): readonly string[] => {
  const { workspace } = config.harness;
  const warnings: string[] = [];
  const commanding = files.filter(({ settings }) => settings.tools.includes('bash'));
  for (const { name, settings } of commanding) {
    const { mode } = settings.harness_config.sandbox ?? config.harness.sandbox;
    const program = programs[mode];
    if (program !== undefined && !isOnPath(program, environment)) {
      warnings.push(
        `agent ${name}: the program ${program} of sandbox mode ${mode} is not on the PATH, so its turns fail.`,
      );
    }
    if (mode === 'host') {
      warnings.push(`agent ${name}: commands run on this machine without isolation (sandbox mode host).`);
    }
  }
  if (!isInRepository(workspace.path)) {
    warnings.push(`harness.git has no effect: ${workspace.path} is not in a git repository.`);
  } else if (workspace.mode === 'host' && config.harness.git.auto_branch && config.lanes.concurrency > 1) {
    warnings.push(
      'harness.workspace.mode host: sessions share one work tree, so a turn is blocked while another branch is checked out. Use mode sandbox for a work tree per session.',
    );
  }
  if (files.length === 0) warnings.push(`${config.agents} has no agent files.`);
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(config.server.host)) {
    warnings.push(
      `server.host ${config.server.host}: other machines reach the service. Put a proxy with TLS before it.`,
    );
  }
  return warnings;
};

const isOnPath = (program: string, { PATH = '' }: Environment): boolean =>
  PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });

const isInRepository = (folder: string): boolean => {
  const parent = dirname(folder);
  return existsSync(join(folder, '.git')) || (parent !== folder && isInRepository(parent));
};
