import { ConfigError } from '@h/config';
import { LruMap } from '@h/bounded';
import type { ApprovalStore } from '@h/hooks';
import { ModelError, openModels, secretsIn, type ChosenModel, type Models } from '@h/models';
import { createUsageMeter, type UsageMeter } from '@h/observe';
import { openTelemetry, type Telemetry } from '@h/observe/otlp';
import { loadPrices } from '@h/prices';
import { queue } from '@h/queue';
import { createRedactor, type Redactor } from '@h/redact';
import { wrapExternal } from '@h/security';
import { subagents, unrestricted, type AgentKind, type Subagents } from '@h/subagents';
import type { Agent } from '@h/turn';
import type { StationConfig } from '../config/schema.js';
import type { AgentFile } from './agent-file.js';
import { copyFiles } from './hand-over.js';
import { createPipeline, type PipelineParts } from './pipeline.js';
import { routedAgent, type OpenAgent } from './routed-agent.js';
import type { AgentEnvironment, StationAgent } from './station-agent.js';
import { tenantApprovals } from './tenant-approvals.js';
import { TenantBudgets } from './tenant-budgets.js';
import { openToolbox } from './toolbox.js';
import { runOf, tenantOf } from './turn-metadata.js';
import { ChildUsages } from './record-usage.js';
import { openWorkplace, type Workplace } from './workplaces.js';

/** Options of {@link stationAgents}. */
export interface StationAgentsOptions {
  /** The environment variables with the keys of models. @defaultValue `process.env` */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The models of every agent, for demonstrations. @defaultValue those of the configuration */
  readonly models?: Models | undefined;
  /** Stores approvals that apply always. @defaultValue in memory, for each agent and tenant, until the process ends */
  readonly approvalStore?: ApprovalStore | undefined;
}

/** Maximum number of separate workplaces that stay open without a turn. */
const maxIdleWorkplaces = 32;
/** Maximum number of sessions whose tenant is remembered for their sub-agents. */
const maxSessions = 10_000;

/** What all agents of a process share. */
interface Shared {
  readonly config: StationConfig;
  readonly files: readonly AgentFile[];
  readonly models: Models;
  readonly redactor: Redactor;
  readonly approvalStore: ApprovalStore;
  readonly budgets: TenantBudgets;
  readonly meter: () => Promise<UsageMeter>;
  readonly telemetry: () => Promise<Telemetry>;
}

/**
 * Creates the agents of agent files.
 *
 * @throws ConfigError if the model of an agent cannot be used
 */
export const stationAgents = (
  config: StationConfig,
  files: readonly AgentFile[],
  options: StationAgentsOptions = {},
): readonly StationAgent[] => {
  const { environment = process.env, approvalStore = tenantApprovals() } = options;
  const shared: Shared = {
    config,
    files,
    models: options.models ?? configuredModels(config, environment),
    redactor: createRedactor({ values: secretsIn(environment) }),
    approvalStore,
    budgets: new TenantBudgets(config.budgets.tenant),
    meter: once(async () =>
      createUsageMeter({ costOf: await loadPrices({ overrides: { 'ollama/*': { input: 0, output: 0 } } }) }),
    ),
    telemetry: once(() => openTelemetry({ url: config.telemetry.otel, serviceName: config.telemetry.service_name })),
  };
  return files.map((file) => {
    const model = chosenModel(shared, file);
    let close: (() => Promise<void>) | undefined;
    return {
      name: file.name,
      description: file.settings.description,
      model: model.name ?? '',
      open: async (environment) => {
        const agent = await openStationAgent(shared, file, model, environment);
        close = () => agent.close();
        return agent;
      },
      receive: async (session, files) => {
        const keyOf = workplaceKeys(config);
        const own = keyOf(session);
        const others = files.filter((from) => keyOf(from.session) !== own);
        if (others.length === 0) return;
        const { root } = await openWorkplace(config, own);
        for (const from of others) {
          await copyFiles((await openWorkplace(config, keyOf(from.session))).root, root, from.paths);
        }
      },
      flush: async () => (await shared.telemetry()).close(),
      close: async () => {
        await close?.();
        await (await shared.telemetry()).close();
      },
    };
  });
};

/** The models that a configuration describes, with keys from the environment. */
export const configuredModels = (
  { models: { providers } }: StationConfig,
  environment: Readonly<Record<string, string | undefined>>,
): Models =>
  openModels({
    environment,
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, { base_url: baseUrl, key_env: keys, context_window: contextWindow }]) => [
        name,
        { baseUrl, keys, contextWindow },
      ]),
    ),
    labels: { model: 'model', fallback: 'fallback', baseUrl: 'base_url' },
  });

/** @throws ConfigError with the position of the model in the agent file */
const chosenModel = ({ config, models }: Shared, { settings, source }: AgentFile): ChosenModel => {
  const model = settings.model ?? config.models.default;
  const fallback = settings.fallback ?? config.models.fallback;
  try {
    return models.choose({ model, fallback });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw new ConfigError([source.problem(['model'], error.message)], { cause: error });
  }
};

/** Names the workplace of a session: all share one, each run has one, or each session. */
const workplaceKeys = ({ harness: { workspace, git } }: StationConfig): ((session: string) => string) => {
  if (workspace.mode === 'host') return () => '';
  return git.workflow_branch_strategy === 'shared' ? (session) => runOf(session) ?? session : (session) => session;
};

const openStationAgent = async (
  shared: Shared,
  file: AgentFile,
  model: ChosenModel,
  environment: AgentEnvironment,
): Promise<Agent & Omit<OpenAgent, 'agent'>> => {
  const open = (key: string): Promise<OpenAgent> => openIn(shared, file, model, environment, key);
  return routedAgent({
    sessions: environment.sessions,
    keyOf: workplaceKeys(shared.config),
    open,
    prepare: async (session) => {
      if (environment.tenants) await shared.budgets.refresh(session, Date.now(), environment.tenants);
    },
    maxIdle: maxIdleWorkplaces,
  });
};

/** Opens the agent in the workplace of a session. */
const openIn = async (
  shared: Shared,
  file: AgentFile,
  model: ChosenModel,
  environment: AgentEnvironment,
  key: string,
): Promise<OpenAgent> => {
  const { config, budgets } = shared;
  const workplace = await openWorkplace(config, key);
  const meter = await shared.meter();
  const common = {
    config,
    sessions: environment.sessions,
    artifacts: environment.artifacts,
    approvalStore: shared.approvalStore,
    redactor: shared.redactor,
    meter,
    telemetry: await shared.telemetry(),
    childUsages: new ChildUsages(),
  };
  const tenants = new LruMap<string, string>(maxSessions);
  const budgetOf = (tenant: string, turn?: string): ReturnType<PipelineParts['budget']> =>
    budgets.budgetOf(tenant, Date.now(), turn);
  const team = createTeam(shared, file, workplace, environment, common, (session) =>
    budgetOf(tenants.get(session) ?? tenantOf(undefined)),
  );
  const toolbox = await openToolbox({ config, file, workplace, artifacts: environment.artifacts, team });
  const agent: Agent = createPipeline({
    ...common,
    isChild: false,
    file,
    model,
    workplace,
    toolbox,
    budget: ({ turn, session, metadata }) => {
      const tenant = tenantOf(metadata);
      tenants.set(session, tenant);
      return budgetOf(tenant, turn);
    },
    outer: [
      queue(environment.lanes, {
        ...(config.lanes.per_tenant !== undefined && {
          groupsOf: ({ metadata }) => ({ tenant: tenantOf(metadata) }),
        }),
        isAtWork: (turn) => agent.running().some((one) => one.turn === turn && one.state === 'waiting-for-tool'),
      }),
    ],
    team: team === undefined ? [] : [team],
    inner: [],
  });
  return {
    agent,
    close: async () => {
      await team?.close();
      await toolbox.close();
    },
  };
};

type Common = Omit<
  PipelineParts,
  'isChild' | 'file' | 'model' | 'workplace' | 'toolbox' | 'budget' | 'outer' | 'team' | 'inner'
>;

/** The operator for the sub-agents of an agent file; `undefined` if it lists none. They work in the same workplace. */
const createTeam = (
  shared: Shared,
  { settings }: AgentFile,
  workplace: Workplace,
  { lanes, artifacts }: AgentEnvironment,
  common: Common,
  budget: (session: string) => ReturnType<PipelineParts['budget']>,
): Subagents | undefined => {
  const files = shared.files.filter(({ name }) => settings.subagents.includes(name));
  if (files.length === 0) return undefined;
  const kinds = files.map((file): [string, AgentKind<NonNullable<ReturnType<PipelineParts['budget']>>>] => [
    file.name,
    {
      description: file.settings.description || `The agent ${file.name}.`,
      policy: { tools: [...file.settings.tools, 'read_artifact'] },
      create: async ({ guard, budget: share }) => {
        const toolbox = await openToolbox({ config: shared.config, file, workplace, artifacts, team: undefined });
        const agent = createPipeline({
          ...common,
          isChild: true,
          file,
          model: chosenModel(shared, file),
          workplace: { ...workplace, repository: undefined },
          toolbox,
          budget: () => share,
          outer: [],
          team: [],
          inner: [guard],
        });
        return { agent, dispose: () => toolbox.close() };
      },
    },
  ]);
  return subagents({
    agents: Object.fromEntries(kinds),
    policy: unrestricted,
    limits: { depth: 1 },
    budget,
    lanes,
    artifacts,
    wrap: wrapExternal,
  });
};

/**
 * Creates a value on the first call. If that fails, for example without free file handles, the next call tries again.
 */
export const once = <Value>(create: () => Promise<Value>): (() => Promise<Value>) => {
  let value: Promise<Value> | undefined;
  return () =>
    (value ??= create().catch((error: unknown) => {
      value = undefined;
      throw error;
    }));
};
