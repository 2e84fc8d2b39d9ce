import { readFile } from 'node:fs/promises';
import { ConfigError as FileError, keysAt, parseConfig as parseFile } from '@h/config';
import { CodedError, nearestName, maxTimerMs, readProblem } from '@h/options';
import * as z from 'zod';

const positive = z.number().positive();
const milliseconds = z.int().min(1).max(maxTimerMs);
const name = z.string().regex(/^[\w.-]{1,64}$/, 'must have 1 to 64 letters, digits, dots, dashes or underscores');

/** Rotation of the log and of the recording: at most 300 MB in six files. */
const defaultRotation = { maxBytes: 50_000_000, maxFiles: 5 } as const;

const httpUrl = z
  .url({ protocol: /^https?$/ })
  .refine((value) => URL.canParse(value) && new URL(value).username === '' && new URL(value).search === '', {
    message: 'must be a base URL without credentials and query',
  });

const upstreamKey = z.strictObject({
  id: name.describe('Identifies the key in logs.'),
  env: z.string().min(1).describe('The environment variable with the key.'),
});

const otherModel = z.strictObject({
  provider: z.enum(['anthropic', 'openai']),
  model: z.string().min(1),
  api: z
    .enum(['chat', 'responses'])
    .exactOptional()
    .describe('The API of OpenAI. Default: that of the request, and "chat" for requests to Anthropic.'),
});

const upstream = z.strictObject({
  url: httpUrl.exactOptional().describe('Base URL, without /v1.'),
  keys: z.array(upstreamKey).default([]).describe('Keys of the provider. Without keys, clients bring their own.'),
  models: z
    .array(z.union([z.string().min(1), otherModel]))
    .default([])
    .describe('Models that are asked in this order when the requested one fails.'),
});

const limits = z.strictObject({
  tokens: positive.exactOptional().describe('Input and output tokens, cached input included.'),
  cost: positive.exactOptional().describe('US dollars.'),
});

const dailyLimits = limits.describe('For each day in UTC.');

const client = z.strictObject({
  name,
  keyHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of a key; create one with "h-model-proxy key NAME"')
    .describe('SHA-256 of the key.'),
  limits: dailyLimits.exactOptional(),
});

const price = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cacheRead: z.number().min(0).exactOptional(),
  cacheWrite: z.number().min(0).exactOptional(),
});

const compaction = z.strictObject({
  window: z.int().min(1_000).describe('The context window of the models, in tokens.'),
  threshold: z.number().gt(0).max(1).default(0.7).describe('Share of the window from which a request is compacted.'),
  protectTokens: z.int().min(1).exactOptional().describe('Tokens at the end that stay unchanged. Default: 40,000.'),
  summarizer: z
    .string()
    .min(1)
    .exactOptional()
    .describe('A model of the same provider that writes summaries. Without it, tool results and messages are removed.'),
});

/** A file that rotates by size. */
const rotated = (file: z.ZodString) =>
  z.union([
    file.transform((path) => ({ file: path, ...defaultRotation })),
    z.strictObject({
      file,
      maxBytes: z.int().min(1).default(defaultRotation.maxBytes).describe('Size at which the file is rotated.'),
      maxFiles: z.int().min(0).max(10_000).default(defaultRotation.maxFiles).describe('Number of rotated files.'),
    }),
  ]);

/** Where the log of model calls goes. */
const log = rotated(z.string().min(1).describe('A file, or "-" for standard error.'));

const schema = z
  .strictObject({
    listen: z
      .strictObject({
        host: z.string().min(1).default('127.0.0.1').describe('Other hosts than loopback require `clients`.'),
        port: z.int().min(0).max(65_535).default(8787).describe('0 selects a free port.'),
      })
      .prefault({}),
    anthropic: upstream.prefault({}),
    openai: upstream.prefault({}),
    clients: z.array(client).default([]).describe('Clients with keys of the proxy. Without any, clients need none.'),
    budgets: z
      .strictObject({
        client: dailyLimits.prefault({}).describe('For each client without separate limits.'),
        conversation: limits.prefault({}),
        day: dailyLimits.prefault({}).describe('For all clients together.'),
        warnAt: z.number().min(0).max(1).default(0.8).describe('Share of a limit from which answers carry a warning.'),
        unknownCost: z
          .enum(['refuse', 'ignore'])
          .default('refuse')
          .describe('Whether a model without a known price is refused while a cost limit applies.'),
      })
      .prefault({}),
    prices: z.record(z.string(), price).default({}).describe('Prices by model, in US dollars per million tokens.'),
    state: z.string().min(1).default('.h-model-proxy').describe('Folder of the usage counts.'),
    log: log.exactOptional().describe('One JSON line per model call.'),
    otel: z
      .url({ protocol: /^https?$/ })
      .exactOptional()
      .describe('OTLP/HTTP collector of spans and metrics, such as http://127.0.0.1:4318.'),
    recording: rotated(z.string().min(1)).exactOptional().describe('A recording of all calls, for h-trace.'),
    loops: z.boolean().default(false).describe('Warns the model about tool calls without progress, then ends the run.'),
    compaction: z
      .union([z.literal(false), compaction])
      .default(false)
      .describe('Compacts conversations that approach the context window of the model.'),
    redact: z
      .union([z.boolean(), z.strictObject({ env: z.array(z.string().min(1)) })])
      .default(false)
      .describe('Replaces secrets in requests; `env` names variables with further values to replace.'),
    unmetered: z
      .enum(['deny', 'pass'])
      .default('deny')
      .describe(
        'Requests that may cost something the proxy cannot measure, such as images, batches and answers in the background.',
      ),
    maxBodyBytes: z.int().min(1).max(1_073_741_824).default(64_000_000),
    timeouts: z
      .strictObject({ headMs: milliseconds.default(600_000), idleMs: milliseconds.default(600_000) })
      .prefault({}),
  })
  .superRefine((config, context) => {
    const fail = (path: readonly string[], message: string): void =>
      context.addIssue({ code: 'custom', path: [...path], message });
    for (const provider of ['anthropic', 'openai'] as const) {
      for (const [index, choice] of config[provider].models.entries()) {
        if (typeof choice === 'string') continue;
        const path = [provider, 'models', String(index)];
        if (choice.provider === 'anthropic' && choice.api !== undefined) {
          fail([...path, 'api'], 'is an option of models of OpenAI');
        }
        if (choice.provider !== provider && config[choice.provider].keys.length === 0) {
          fail(path, `requires \`${choice.provider}.keys\`, because the keys of clients are for ${provider}`);
        }
      }
    }
    const hasKeys = config.anthropic.keys.length > 0 || config.openai.keys.length > 0;
    if (config.clients.length > 0) {
      const names = config.clients.map((known) => known.name);
      if (new Set(names).size < names.length) fail(['clients'], 'must have different names');
      if (!hasKeys) {
        fail(['clients'], 'require `anthropic.keys` or `openai.keys`, because their keys are the proxy’s own');
      }
    } else {
      if (hasKeys) fail(['clients'], 'must not be empty: otherwise anyone who reaches the port could use your keys');
      if (!isLoopback(config.listen.host)) fail(['listen', 'host'], 'must be loopback unless `clients` are configured');
    }
  });

/** The configuration of a proxy. */
export type ProxyConfig = z.output<typeof schema>;
/** The configuration as it is written, with defaults left out. */
export type ProxyConfigInput = z.input<typeof schema>;
/** The configuration of one provider. */
export type UpstreamConfig = z.output<typeof upstream>;
/** The file of the log and its rotation. */
export type LogConfig = z.output<typeof log>;
/** Limits of a budget. */
export type BudgetLimits = z.output<typeof limits>;

/** Base URLs of the providers. */
export const providerUrls = { anthropic: 'https://api.anthropic.com', openai: 'https://api.openai.com' } as const;

/** Returns whether a host name or address is the loopback interface. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** The configuration is invalid. The message lists every problem. */
export class ConfigError extends CodedError {
  constructor(message: string) {
    super('invalid-config', message);
  }
}

/**
 * Checks a configuration and adds the defaults.
 *
 * @throws ConfigError
 */
export const parseConfig = (value: unknown, source = 'configuration'): ProxyConfig => {
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const path = issue.path.map(String).join('.');
    if (issue.code !== 'unrecognized_keys') return `${path === '' ? 'configuration' : path}: ${issue.message}`;
    const known = keysAt(schema, issue.path);
    return issue.keys
      .map((key) => {
        const nearest = nearestName(key, known);
        const full = path === '' ? key : `${path}.${key}`;
        return `${full}: unknown option${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
      })
      .join('\n  ');
  });
  throw new ConfigError(`${source} is invalid:\n  ${problems.join('\n  ')}`);
};

/**
 * Reads a configuration file in YAML or JSON.
 *
 * @throws ConfigError
 */
export const readConfig = async (path: string): Promise<ProxyConfig> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(readProblem(error, path));
  }
  try {
    return parseFile(text, path).check(schema);
  } catch (error) {
    throw error instanceof FileError ? new ConfigError(error.message) : error;
  }
};

/** Returns the JSON Schema of the configuration, for editors. */
export const configSchema = (): unknown => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
