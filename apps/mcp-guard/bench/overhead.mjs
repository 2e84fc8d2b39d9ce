// Measures what the guard adds to a call: the same calls to the same server, once directly and once over a connection,
// in turn. Each row has its own pair of connections.
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
const names = Object.keys(connections).filter((name) => only.length === 0 || only.includes(name));

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

for (const name of names) {
  const direct = await connect([server]);
  const through = await connect(connections[name]);
  const [directTimes, times, added] = [[], [], []];
  let cpu = 0;
  for (let index = 0; index < warmUp + calls; index += 1) {
    if (index === warmUp) cpu = cpuOf(through.pid);
    const own = await time(direct.client, index);
    const elapsed = await time(through.client, index);
    if (index < warmUp) continue;
    directTimes.push(own);
    times.push(elapsed);
    added.push(elapsed - own);
  }
  const used = (cpuOf(through.pid) - cpu) / calls;
  const spans = [median(directTimes), median(times), median(added), mean(added), used].map((span) => span.toFixed(2));
  const [own, all, middle, average, work] = spans;
  console.log(
    `${name.padEnd(31)} ${own} → ${all} ms; added: median ${middle} ms, mean ${average} ms; CPU ${work} ms a call`,
  );
  await Promise.all([direct.client.close(), through.client.close()]);
}
rmSync(folder, { recursive: true, force: true });
