import * as z from 'zod';
import { duration, size } from './units.js';

const positive = z.number().positive();
const count = z.int().min(1);
const text = z.string().min(1);
const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, not its value');
const bucketName = z.string().regex(/^[\w-]{1,200}$/, 'must have 1 to 200 letters, digits, "-" and "_"');
const natsServer = z
  .string()
  .regex(
    /^(?:(?:nats|tls):\/\/)?(?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?$/i,
    'must be an address without credentials, such as nats://127.0.0.1:4222',
  );
/** `provider/model`. */
export const modelName = z
  .string()
  .regex(/^[^/\s]+\/\S+$/, 'must be provider/model, such as anthropic/claude-sonnet-4-5');
/** The name of an agent, workflow or trigger. */
export const entityName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, 'must have 1 to 64 lower-case letters, digits, "-" and "_"');

/** Commands that the tool `bash` may run. */
export const bashPermissions = z.strictObject({
  allow_write: z.boolean().default(true).describe('Whether commands may change files.'),
  allowed_commands: z.array(text).exactOptional().describe('The only commands that may run.'),
  blocked_commands: z.array(text).default([]).describe('Commands that never run.'),
});

/** Where commands run. */
export const sandboxSchema = z
  .strictObject({
    mode: z.enum(['host', 'bubblewrap', 'docker', 'e2b']).default('host').describe('Where commands run.'),
    image: text.exactOptional().describe('Container image of `docker`, or template of `e2b`.'),
    network: z.boolean().exactOptional().describe('Whether commands in a sandbox may use the network.'),
    timeout: duration.prefault('10m').describe('Longest time of one command.'),
    memory: z
      .string()
      .regex(/^\d{1,9}[bkmg]?$/i, 'must be bytes or a number and a unit, such as 4g')
      .exactOptional()
      .describe('Memory of all commands together (docker).'),
    cpu: positive.exactOptional().describe('Processors of all commands together (docker).'),
    environment: z.record(z.string(), z.string()).default({}).describe('Variables of every command.'),
  })
  .superRefine(({ mode, image, network, memory, cpu }, context) => {
    const fail = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
    if (mode === 'docker' && image === undefined) fail('image', 'is required by mode docker');
    if (image !== undefined && mode !== 'docker' && mode !== 'e2b') fail('image', `has no effect in mode ${mode}`);
    if (memory !== undefined && mode !== 'docker') fail('memory', `has no effect in mode ${mode}`);
    if (cpu !== undefined && mode !== 'docker') fail('cpu', `has no effect in mode ${mode}`);
    if (network === false && mode === 'host') fail('network', 'cannot be disabled in mode host');
  });
export type SandboxConfig = z.output<typeof sandboxSchema>;

const harness = z.strictObject({
  workspace: z
    .strictObject({
      path: text.default('./workspace').describe('Root folder of the work, relative to this file.'),
      mode: z
        .enum(['host', 'sandbox'])
        .default('host')
        .describe('host: all sessions share the folder. sandbox: each session, or workflow run, has a separate copy.'),
    })
    .prefault({}),
  compaction: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Summarizes the history before it exceeds the context window.'),
      threshold: z.number().min(0.1).max(1).default(0.85).describe('Share of the window from which it summarizes.'),
      protect_tokens: z.int().min(0).default(40_000).describe('Tokens at the end that stay unchanged.'),
    })
    .prefault({}),
  git: z
    .strictObject({
      auto_branch: z.boolean().default(true).describe('Whether each task works on a new branch.'),
      branch_prefix: text.default('agent/').describe('Start of branch names.'),
      auto_commit: z.boolean().default(false).describe('Whether changes are committed at the end of a turn.'),
      require_approval: z.boolean().default(true).describe('Whether a person approves each push.'),
      workflow_branch_strategy: z
        .enum(['shared', 'per-agent'])
        .default('shared')
        .describe('Whether the steps of a workflow run share one branch.'),
    })
    .prefault({}),
  nats: z
    .strictObject({
      enabled: z.boolean().default(false).describe('Stores sessions and artifacts in NATS JetStream, for one process.'),
      servers: z.array(natsServer).min(1).default(['nats://127.0.0.1:4222']).describe('Addresses of the servers.'),
      token_env: variable.exactOptional().describe('Variable with the token of the servers.'),
      kv_bucket: bucketName.default('harness-state').describe('Key-value bucket of sessions.'),
      object_bucket: bucketName.default('harness-files').describe('Object bucket of artifacts.'),
      max_file_size: size.prefault('100MB').describe('Largest artifact.'),
      ttl: duration.prefault('24h').describe('Time after the last use in which sessions and artifacts are removed.'),
    })
    .prefault({}),
  permissions: z
    .strictObject({
      external_directory: z
        .enum(['deny', 'allow'])
        .default('deny')
        .describe('Whether file tools reach paths outside the workspace.'),
      bash: bashPermissions.prefault({}),
    })
    .prefault({}),
  sandbox: sandboxSchema.prefault({}),
  limits: z
    .strictObject({
      max_steps: count.default(50).describe('Model calls of a turn, if the agent file sets none.'),
      doom_loop_threshold: z.int().min(2).default(3).describe('Identical tool calls in a row that count as a loop.'),
      timeout: duration.prefault('10m').describe('Longest time of a turn.'),
    })
    .prefault({}),
});

const provider = z.strictObject({
  base_url: z
    .url({ protocol: /^https?$/ })
    .exactOptional()
    .describe('Address of the API.'),
  key_env: z.array(variable).min(1).exactOptional().describe('Variables with keys; several take turns.'),
  context_window: z.int().min(1_000).exactOptional().describe('Context window of its models in tokens.'),
});

const models = z.strictObject({
  default: modelName.exactOptional().describe('Model of agents that name none. Without it, the first with a key.'),
  fallback: z.array(modelName).default([]).describe('Models to ask, in order, if the first one fails.'),
  providers: z.record(entityName, provider).default({}).describe('Settings by provider.'),
});

const allowance = {
  max_cost: positive.exactOptional().describe('US dollars.'),
  max_tokens: count.exactOptional().describe('Input and output tokens.'),
};

const trigger = {
  agent: entityName.exactOptional().describe('Agent that receives the input.'),
  workflow: entityName.exactOptional().describe('Workflow that is started with the input.'),
  input: text
    .exactOptional()
    .describe('Text for the agent. `{{body.key}}` inserts values of a webhook, `{{text}}` a message.'),
  session: text.exactOptional().describe('Session that receives the input. Without it, each tick has its own.'),
  tenant: text.default('default').describe('Tenant that owns the session or the run, and whose messages count.'),
};
const missed = z
  .enum(['run', 'skip'])
  .default('skip')
  .describe('What happens to the latest tick that passed while no process was running.');

const triggerSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('cron'),
      schedule: text.describe('Cron expression with 5 or 6 fields.'),
      timezone: text.default('UTC').describe('Time zone of the schedule, such as Europe/Berlin.'),
      missed,
      ...trigger,
    }),
    z.strictObject({
      type: z.literal('heartbeat'),
      every: duration.describe('Time between ticks.'),
      missed,
      ...trigger,
    }),
    z.strictObject({
      type: z.literal('webhook'),
      secret_env: variable.describe('Variable with the secret that signs requests.'),
      tolerance: duration.prefault('5m').describe('Largest difference between the clocks.'),
      ...trigger,
    }),
    z.strictObject({
      type: z.literal('message'),
      contains: text.describe('Words of the message, regardless of case.'),
      ...trigger,
    }),
  ])
  .superRefine(({ agent, workflow, input }, context) => {
    const fail = (message: string): void => context.addIssue({ code: 'custom', message });
    if ((agent === undefined) === (workflow === undefined)) fail('a trigger needs either an agent or a workflow');
    if (agent !== undefined && input === undefined) fail('a trigger of an agent needs an input');
  });
export type TriggerConfig = z.output<typeof triggerSchema>;

/** The file `config.yaml`. */
export const configSchema = z.strictObject({
  harness: harness.prefault({}),
  models: models.prefault({}),
  agents: text.default('./agents').describe('Folder of the agent files.'),
  workflows: text.default('./workflows').describe('Folder of the workflow files.'),
  server: z
    .strictObject({
      host: text.default('127.0.0.1').describe('Address to listen at.'),
      port: z.int().min(0).max(65_535).default(4700).describe('0 selects a free port.'),
      public_url: z
        .url({ protocol: /^https?$/ })
        .exactOptional()
        .describe('Address in approval links.'),
      cors_origins: z.array(z.url()).default([]).describe('Other origins whose pages may call the API.'),
      max_body: size.prefault('10MB').describe('Largest request.'),
    })
    .prefault({}),
  database: z
    .strictObject({
      folder: text.default('./.station').describe('Folder of sessions, artifacts and records.'),
      url_env: variable.exactOptional().describe('Variable with the URL of a PostgreSQL database to use instead.'),
    })
    .prefault({}),
  lanes: z
    .strictObject({
      concurrency: count.default(4).describe('Turns that run at a time.'),
      reserved_foreground: z.int().min(0).default(0).describe('Slots that background turns never take.'),
      per_tenant: count.exactOptional().describe('Turns of one tenant that run at a time.'),
    })
    .refine(({ concurrency, reserved_foreground: reserved }) => reserved < concurrency, {
      path: ['reserved_foreground'],
      message: 'must be less than concurrency',
    })
    .prefault({}),
  budgets: z
    .strictObject({
      turn: z.strictObject(allowance).prefault({}).describe('Limits of each turn.'),
      session: z.strictObject(allowance).prefault({}).describe('Limits of all turns of a session.'),
      tenant: z.strictObject(allowance).prefault({}).describe('Limits of a tenant for each day in UTC.'),
    })
    .prefault({}),
  approvals: z
    .strictObject({
      mode: z.enum(['on-risk', 'always', 'never']).default('on-risk').describe('Which tool calls need an approval.'),
      timeout: duration.prefault('10m').describe('Time after which a request counts as denied.'),
      link_ttl: duration.prefault('15m').describe('Time for which an approval link is valid.'),
    })
    .prefault({}),
  triggers: z.record(entityName, triggerSchema).default({}),
  telemetry: z
    .strictObject({
      otel: z
        .url({ protocol: /^https?$/ })
        .exactOptional()
        .describe('OTLP/HTTP collector, such as http://127.0.0.1:4318.'),
      service_name: text.default('h-station').describe('Name of the service in traces.'),
    })
    .prefault({}),
});

/** A checked configuration with defaults. Durations are in milliseconds, sizes in bytes, paths absolute. */
export type StationConfig = z.output<typeof configSchema>;
