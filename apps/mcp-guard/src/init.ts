import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import * as z from 'zod';
import { readProblem } from '@h/options';
import { ConfigError, parseConfig } from './config.js';

const entry = z.looseObject({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
});
const servers = z.record(z.string(), entry);
const clientConfig = z.looseObject({ mcpServers: servers.optional(), servers: servers.optional() });

/** The name of a server in the names of its tools. */
const nameOf = (name: string): string =>
  name
    .replaceAll(/[^a-zA-Z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 24) || 'server';

/**
 * Writes a configuration for the servers of an MCP client, and returns what to put in their place.
 *
 * @throws ConfigError if the file of the client cannot be read, or the configuration exists already
 */
export const init = async (from: string, to: string): Promise<string> => {
  if (existsSync(to)) throw new ConfigError(`${to} exists already. Delete it, or name another file with --config.`);
  const given = readClientConfig(from);
  const guarded = Object.entries(given).map(([name, { command, args, env, cwd, url, headers }]): [string, object] => [
    nameOf(name),
    url === undefined ? dropUndefined({ command, args, env, cwd }) : dropUndefined({ url, headers }),
  ]);
  if (guarded.length === 0) throw new ConfigError(`${from} names no servers.`);
  const twice = guarded.find(([name], index) => guarded.findIndex(([other]) => other === name) < index)?.[0];
  if (twice !== undefined) throw new ConfigError(`${from}: two servers would be named ${twice}. Rename one of them.`);
  const text = `${head}${stringify({ servers: Object.fromEntries(guarded) as object })}${defaults}`;
  parseConfig(text.replaceAll(/\$\{[^}]*\}/g, 'x'), to, {});
  writeFileSync(to, text, { flag: 'wx', mode: 0o600 });
  const replacement = { mcpServers: { guard: { command: 'npx', args: ['@h/mcp-guard', '--config', resolve(to)] } } };
  return [
    `Wrote ${to} with ${guarded.length} ${guarded.length === 1 ? 'server' : 'servers'}: ${guarded.map(([name]) => name).join(', ')}.`,
    `Check it:  npx @h/mcp-guard check --config ${to}`,
    `Then replace the servers in ${from} by:`,
    JSON.stringify(replacement, undefined, 2),
  ].join('\n');
};

const readClientConfig = (file: string): z.output<typeof servers> => {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(`${readProblem(error, file)} Name the file of the client with --from.`, { cause: error });
  }
  const parsed = clientConfig.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigError(
      `${file}: ${JSON.stringify(issue?.path.join('.') ?? '')} is invalid: ${issue?.message ?? ''}.`,
    );
  }
  return parsed.data.mcpServers ?? parsed.data.servers ?? {};
};

const dropUndefined = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));

const head =
  '# Configuration of mcp-guard. Unknown keys are errors. Check it with: npx @h/mcp-guard check --config <file>\n';

const defaults = `
policy:
  # The first rule that matches a call decides: allow, ask or deny. "*" matches any characters.
  rules: []
  #  - { tool: 'files__write_*', input: { path: '/etc/*' }, decision: deny, reason: 'System files are off limits.' }
  #  - { tool: '*delete*', decision: ask }
  otherwise: allow
  commands: true # judge command lines in inputs: deny destructive ones, ask about doubtful ones
results:
  maxChars: 32000 # longer results are stored; the tool read_artifact reads them
  timeoutMs: 120000
security:
  wrap: true # mark results as data
  redact: true # replace secrets
  scan: true # refuse descriptions that redirect the model
  pins: guard.pins.json # refuse descriptions that changed since "mcp-guard approve"
loops: true
limits: {} # maxCalls, maxDurationMs
log:
  file: guard.jsonl
`;
