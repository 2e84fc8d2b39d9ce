// Measures what the guard adds to a call: the same calls to the same server over several connections in turn.
//
//   node bench/overhead.mjs [calls] [connection, …]
//
// CPU is that of the process in between, from /proc.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [given = '2000', ...only] = process.argv.slice(2);
const calls = Number(given);
const warmUp = 300;
const msPerTick = 10;
const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const main = pathOf('../dist/main.js');
const folder = mkdtempSync(join(tmpdir(), 'mcp-guard-bench-'));

const off = {
  policy: { commands: false },
  results: { artifacts: false, lock: false, maxChars: 100_000_000 },
  security: { wrap: false, redact: false, scan: false, pins: false },
  loops: false,
};
const guard = (name, config) => {
  const file = join(folder, `${name.replaceAll(/\W+/g, '-')}.yaml`);
  writeFileSync(
    file,
    JSON.stringify({ ...config, servers: { server: { command: process.execPath, args: [server] } } }),
  );
  return [main, '--config', file];
};
const connections = {
  'the server itself': [server],
  'an empty proxy of the MCP SDK': [pathOf('empty-proxy.mjs'), process.execPath, server],
  'guard without operators': guard('off', off),
  'guard with command policy': guard('policy', {
    ...off,
    policy: { commands: true, rules: [{ tool: 'x*', decision: 'deny' }] },
  }),
  'guard with limits': guard('limits', { ...off, limits: { maxCalls: 1_000_000, maxDurationMs: 86_400_000 } }),
  'guard with loop detection': guard('loops', { ...off, loops: true }),
  'guard with caps and artifacts': guard('results', { ...off, results: {} }),
  'guard with redaction and marks': guard('security', { ...off, security: {} }),
  'guard with a log': guard('log', { ...off, log: { file: join(folder, 'log.jsonl') } }),
  'guard with its defaults': guard('defaults', {}),
  'guard with everything': guard('all', {
    policy: { rules: [{ tool: 'x*', decision: 'deny' }] },
    limits: { maxCalls: 1_000_000, maxDurationMs: 86_400_000 },
    log: { file: join(folder, 'all.jsonl') },
  }),
};
const names = Object.keys(connections).filter((name, index) => index === 0 || only.length === 0 || only.includes(name));

const connect = async (args) => {
  const client = new Client({ name: 'bench', version: '1' });
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' });
  await client.connect(transport);
  return { client, pid: transport.pid };
};
const time = async (client, index) => {
  const startedAt = performance.now();
  // Different inputs, because the guard denies calls that repeat themselves.
  const { isError } = await client.callTool({ name: 'echo', arguments: { message: `Message ${index}` } });
  if (isError) throw new Error('The call failed.');
  return performance.now() - startedAt;
};
const cpuOf = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
};
const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

const open = [];
for (const name of names) open.push({ name, ...(await connect(connections[name])), times: [], cpu: 0 });
for (let index = 0; index < warmUp + calls; index += 1) {
  if (index === warmUp) for (const entry of open) entry.cpu = cpuOf(entry.pid);
  for (const entry of open) {
    const elapsed = await time(entry.client, index);
    if (index >= warmUp) entry.times.push(elapsed);
  }
}
for (const { name, pid, times, cpu } of open) {
  const added = times.map((value, index) => value - open[0].times[index]);
  const used = (cpuOf(pid) - cpu) / calls;
  console.log(
    `${name.padEnd(31)} median ${median(times).toFixed(2)} ms, added: median ${median(added).toFixed(2)} ms, mean ${mean(added).toFixed(2)} ms; CPU ${used.toFixed(2)} ms a call`,
  );
}
await Promise.all(open.map(({ client }) => client.close()));
rmSync(folder, { recursive: true, force: true });
