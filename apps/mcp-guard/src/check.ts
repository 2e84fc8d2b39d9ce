import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpServer } from '@h/tools/mcp';
import { ConfigError } from './config.js';
import type { Config } from './config-schema.js';
import { Guard, qualified } from './guard.js';
import { isNamed } from './policy.js';

/** A server with two tools: \`look\` answers, and \`touch\` creates the file of its first argument. */
const canarySource = `
const lines = require('node:readline').createInterface({ input: process.stdin });
const send = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
const tools = ['look', 'touch'].map((name) => ({ name, inputSchema: { type: 'object' } }));
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const serverInfo = { name: 'canary', version: '1' };
  if (method === 'initialize') send(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
  else if (method === 'tools/list') send(id, { tools });
  else if (method === 'tools/call') {
    if (params.name === 'touch') require('node:fs').writeFileSync(process.argv[1], '');
    send(id, { content: [{ type: 'text', text: 'done' }] });
  }
});`;

const canaryReason = 'The canary of mcp-guard check.';

/**
 * Connects to all servers, and proves on a canary server that an allowed call runs and a denied one does not.
 *
 * @returns the report
 * @throws ConfigError if there is no server, a server cannot be reached, or a denial does not hold
 */
export const check = async (config: Config, onNote: (note: string) => void): Promise<string> => {
  checkServers(config);
  const folder = mkdtempSync(join(tmpdir(), 'mcp-guard-check-'));
  const marker = join(folder, 'touched');
  const canary = { command: process.execPath, args: ['-e', canarySource, marker], protocol: '2025' as const };
  const rules = [
    { tool: 'canary__touch', decision: 'deny' as const, reason: canaryReason },
    { tool: 'canary__look', decision: 'allow' as const },
  ];
  const { servers = {}, policy, security } = config;
  const guard = await Guard.open(
    {
      ...config,
      // A second server, so that the names of the tools have the name of their server.
      servers: { ...servers, canary, 'canary-2': canary },
      policy: { ...policy, rules: [...rules, ...policy.rules] },
      security: { ...security, pins: false },
      log: { content: false },
    },
    { onNote, onToolsChanged: () => undefined },
  );
  try {
    await guard.connect();
    const looked = await guard.call(callOf('canary__look'));
    const touched = await guard.call(callOf('canary__touch'));
    if (looked.isError === true) throw new ConfigError(`An allowed call was denied: ${textOf(looked)}`);
    if (touched.isError !== true || !textOf(touched).includes(canaryReason) || existsSync(marker)) {
      throw new ConfigError('A denied call ran. Do not rely on this guard.');
    }
    const offered = await guard.tools();
    const connected = guard.servers.filter(({ name }) => !name.startsWith('canary'));
    const missing = Object.keys(servers).filter((name) => !connected.some((server) => server.name === name));
    if (missing.length > 0) throw new ConfigError(`These servers cannot be reached: ${missing.join(', ')}.`);
    return [
      'A denied call did not run, and an allowed one did.',
      ...connected.map(({ name, protocolVersion, tools }) => {
        const count = offered.filter((tool) => tool.name.startsWith(`${name}__`)).length;
        return `${name}: MCP ${protocolVersion ?? '?'}, ${count} of ${tools.length} tools are offered`;
      }),
      ...rulesWithoutTool(policy.rules, connected),
    ].join('\n');
  } finally {
    await guard.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** @throws ConfigError if there is no server, because the result would be about nothing */
const checkServers = ({ servers = {} }: Config): void => {
  if (Object.keys(servers).length > 0) return;
  throw new ConfigError(
    'There is no server to guard. Add "servers" to the configuration and pass it with --config, or write it with "mcp-guard init".',
  );
};

/** Reports rules that match no tool, such as those with a misspelled name. */
const rulesWithoutTool = (rules: Config['policy']['rules'], servers: readonly McpServer[]): readonly string[] => {
  const isSingle = servers.length === 1;
  const names = servers.flatMap(({ descriptions }) =>
    [...descriptions].flatMap(([registered, { name }]) => [qualified(registered), ...(isSingle ? [name] : [])]),
  );
  return rules
    .filter(({ tool }) => !isNamed(tool, [...names, 'read_artifact']))
    .map(({ tool, decision }) => `The rule "${decision}" for ${JSON.stringify(tool)} matches no tool.`);
};

/**
 * Approves the current descriptions of all tools.
 *
 * @throws ConfigError if `security.pins` is not a file, or a server cannot be reached
 */
export const approve = async (config: Config, onNote: (note: string) => void): Promise<string> => {
  checkServers(config);
  const { pins } = config.security;
  if (typeof pins !== 'string') {
    throw new ConfigError('Approvals are not stored. Set "security.pins" to a file, such as guard.pins.json.');
  }
  const guard = await Guard.open(config, { onNote: () => undefined, onToolsChanged: () => undefined });
  try {
    await guard.connect();
    const missing = Object.keys(config.servers ?? {}).filter(
      (name) => !guard.servers.some((server) => server.name === name),
    );
    for (const { name, descriptions } of guard.servers) await guard.pins.approve(name, descriptions);
    if (missing.length > 0) onNote(`not approved, because they cannot be reached: ${missing.join(', ')}`);
    const count = guard.servers.reduce((total, { tools }) => total + tools.length, 0);
    return `Approved ${count} tools of ${guard.servers.length} servers in ${pins}.`;
  } finally {
    await guard.close();
  }
};

const callOf = (name: string) => ({
  name,
  input: {},
  signal: new AbortController().signal,
  approve: () => Promise.resolve({ decision: 'deny', reason: 'No person answers questions of the check.' } as const),
});

const textOf = ({ content }: { readonly content: readonly { readonly type: string }[] }): string =>
  content.flatMap((block) => ('text' in block ? [String(block.text)] : [])).join('\n');
