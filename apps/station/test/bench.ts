import { join } from 'node:path';
import { createLanes } from '@h/queue';
import { memoryArtifacts } from '@h/tools';
import { memorySessions, type Agent, type ApprovalDecision, type TurnEvent, type TurnTrigger } from '@h/turn';
import { lastValueFrom, tap, toArray } from 'rxjs';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { parseAgentFile } from '../src/agents/agent-file.js';
import { stationAgents } from '../src/agents/station-agents.js';
import { loadText } from '../src/config/load-config.js';
import { serviceSettings } from '../src/config/service-settings.js';
import { startModelServer, type Answers, type ModelServer } from './model-server.js';

/** Options of {@link openBench}. */
export interface BenchOptions {
  readonly folder?: string;
  readonly config?: object;
  readonly agent?: object;
  /** Further agent files by name. */
  readonly others?: Readonly<Record<string, object>>;
  readonly answers?: Answers;
  readonly environment?: Readonly<Record<string, string>>;
  /** The provider that the model server stands for. @defaultValue `acme` */
  readonly servedBy?: { readonly provider: string; readonly path: string };
}

/** The end of a turn, with everything that the turn emitted. */
export interface Finished {
  readonly events: readonly TurnEvent[];
  readonly outcome: string;
  readonly reason: string | undefined;
}

/** An agent of station with a model server behind it. */
export interface Bench {
  readonly folder: string;
  readonly server: ModelServer;
  readonly agent: Agent;
  /** Text of the tool results, by tool call id. */
  run(
    input: string,
    options?: {
      readonly session?: string;
      readonly tenant?: string;
      readonly trigger?: TurnTrigger;
      readonly decision?: ApprovalDecision['decision'];
      readonly onEvent?: (event: TurnEvent) => void;
    },
  ): Promise<Finished>;
  close(): Promise<void>;
}

const file = (fields: object): string => `---\n${stringify(fields)}---\nYou are a helpful agent.\n`;

/** Opens an agent with a configuration, against a model server on loopback. */
export const openBench = async (options: BenchOptions = {}): Promise<Bench> => {
  const folder = options.folder ?? temporaryFolder();
  const server = await startModelServer(options.answers ?? []);
  const { provider, path } = options.servedBy ?? { provider: 'acme', path: '/v1' };
  const served = options.servedBy === undefined ? {} : { base_url: `${server.url}${path}` };
  const { models = {}, ...config } = (options.config ?? {}) as {
    readonly models?: { readonly providers?: Readonly<Record<string, object>> };
  };
  const { config: loaded, source } = loadText(
    stringify({
      ...config,
      models: {
        default: 'acme/large',
        ...models,
        providers: {
          ...models.providers,
          [provider]: { base_url: `${server.url}${path}`, ...models.providers?.[provider], ...served },
        },
      },
    }),
    join(folder, 'config.yaml'),
  );
  const files = [
    parseAgentFile(file({ tools: ['read'], ...options.agent }), join(folder, 'agents/worker.md')),
    ...Object.entries(options.others ?? {}).map(([name, fields]) =>
      parseAgentFile(file(fields), join(folder, `agents/${name}.md`)),
    ),
  ];
  const environment = options.environment ?? {};
  const [first] = stationAgents(loaded, files, { environment });
  if (first === undefined) throw new Error('No agent.');
  const lanes = createLanes(serviceSettings(loaded, source, environment).lanes);
  const agent = await first.open({
    lanes,
    sessions: memorySessions(),
    artifacts: memoryArtifacts(),
  });
  const close = async (): Promise<void> => {
    await first.close?.();
    await lanes.shutdown();
  };
  onTestFinished(close);
  return {
    folder,
    server,
    agent,
    close,
    run: async (input, { session = 'one', tenant, trigger = 'user', decision, onEvent } = {}) => {
      const metadata = tenant === undefined ? {} : { tenant };
      const events = await lastValueFrom(
        agent.turn({ session, input, trigger, metadata }).pipe(
          tap((event) => {
            onEvent?.(event);
            if (event.type === 'approval.request' && decision !== undefined) agent.answer(event.id, decision);
          }),
          toArray(),
        ),
      );
      const end = events.at(-1);
      if (end?.type !== 'turn.end') throw new Error('The turn has not ended.');
      return { events, outcome: end.outcome, reason: end.reason ?? end.error?.message };
    },
  };
};

/** The text of the first tool result of a turn. */
export const resultOf = ({ events }: Finished): string =>
  JSON.stringify(events.find(({ type }) => type === 'tool.result') ?? 'none');
