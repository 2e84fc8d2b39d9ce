import * as z from 'zod';

const name = z
  .string()
  .regex(/^[a-zA-Z0-9](?:[a-zA-Z0-9-]|_(?!_|$)){0,23}$/, '1 to 24 letters, digits, "-" and single "_"');
const pattern = z.string().min(1);
const patterns = z.array(pattern);
const strings = z.record(z.string(), z.string());
const milliseconds = z.number().int().min(1).max(86_400_000);
const effect = z.enum(['read-only', 'local-write', 'network', 'destructive']);

const server = z
  .strictObject({
    command: z.string().min(1).optional().describe('The program of a local server.'),
    args: z.array(z.string()).optional(),
    env: strings.optional().describe('Variables of the program, besides PATH, HOME and the locale.'),
    cwd: z.string().optional(),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('The address of a server over HTTP.'),
    headers: strings.optional(),
    effects: z.record(z.string(), effect).optional().describe('Effects of tools, which override their annotations.'),
    protocol: z.enum(['auto', '2025', '2026-07-28']).optional(),
    timeoutMs: milliseconds.optional().describe('Time limit of a call.'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'a server has a command or a url')
  .refine(({ url, args, env, cwd }) => url === undefined || !(args ?? env ?? cwd), 'a url has no args, env or cwd')
  .refine(({ command, headers }) => command === undefined || !headers, 'a command has no headers');

const rule = z.strictObject({
  tool: pattern.describe('Name of a tool; * matches any characters.'),
  input: z.record(z.string(), pattern).optional().describe('Patterns of members of the input; all must match.'),
  decision: z.enum(['allow', 'ask', 'deny']),
  reason: z.string().min(1).optional(),
});

/** The configuration file. */
export const configSchema = z.strictObject({
  servers: z.record(name, server).optional(),
  listen: z
    .strictObject({
      port: z.number().int().min(0).max(65_535),
      host: z.string().default('127.0.0.1'),
      path: z.string().startsWith('/').default('/mcp'),
      token: z.string().min(16).optional().describe('The bearer token of clients; required beyond loopback.'),
    })
    .optional()
    .describe('Serves over HTTP. Without it, over standard input and output.'),
  policy: z
    .strictObject({
      rules: z.array(rule).default([]).describe('The first rule that matches a call decides about it.'),
      otherwise: z.enum(['allow', 'ask', 'deny']).default('allow').describe('The decision about all other calls.'),
      commands: z
        .union([z.boolean(), z.record(z.string(), z.string())])
        .default(true)
        .describe('Whether command lines are judged; or the member with the command line, by tool.'),
      hidden: patterns.default([]).describe('Tools that clients do not see.'),
    })
    .prefault({}),
  approvals: z
    .strictObject({
      timeoutMs: milliseconds.default(300_000),
      page: z.boolean().default(true).describe('Serves a local page for clients that cannot ask their user.'),
      file: z.string().optional().describe('Stores answers that apply always.'),
    })
    .prefault({}),
  results: z
    .strictObject({
      maxChars: z.number().int().min(200).default(32_000),
      maxMessageBytes: z.number().int().min(1_000).default(16_777_216),
      timeoutMs: milliseconds.default(120_000),
      artifacts: z
        .union([z.boolean(), z.string()])
        .default(true)
        .describe('Stores longer results, in memory or a folder.'),
      lock: z.boolean().default(true).describe('Runs calls with effects alone, for each server.'),
    })
    .prefault({}),
  security: z
    .strictObject({
      wrap: z.boolean().default(true).describe('Marks results as data.'),
      redact: z.boolean().default(true).describe('Replaces secrets in results.'),
      scan: z.boolean().default(true).describe('Refuses tools whose descriptions redirect the model.'),
      pins: z
        .union([z.boolean(), z.string()])
        .default(true)
        .describe('Refuses changed descriptions: of this process, or of all runs with a file.'),
    })
    .prefault({}),
  loops: z.boolean().default(true).describe('Stops calls without progress.'),
  limits: z
    .strictObject({
      maxCalls: z.number().int().min(0).optional(),
      maxDurationMs: milliseconds.optional().describe('Total running time of all calls.'),
    })
    .prefault({}),
  log: z
    .strictObject({
      file: z.string().optional().describe('Writes one JSON line for each call and decision.'),
      recording: z.string().optional().describe('Writes a recording for h-trace.'),
      otel: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe('OTLP/HTTP collector of spans and metrics, such as http://127.0.0.1:4318.'),
      content: z.boolean().default(false).describe('Whether the log contains inputs and results.'),
    })
    .prefault({}),
});

/** A checked configuration, with defaults. */
export type Config = z.output<typeof configSchema>;

/** The configuration of one server. */
export type ServerConfig = NonNullable<Config['servers']>[string];

/** A rule of the policy. */
export type PolicyRule = Config['policy']['rules'][number];
