// Measures what the guard adds to a call: the same calls to the same server, with and without the guard in between.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const calls = Number(process.argv[2] ?? 2_000);
const warmUp = 200;
const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const guard = fileURLToPath(new URL('../dist/main.js', import.meta.url));

const connect = async (...args) => {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  return client;
};
const time = async (client, index) => {
  const startedAt = performance.now();
  // Different inputs, because the guard denies calls that repeat themselves.
  const { isError } = await client.callTool({ name: 'echo', arguments: { message: `Message ${index}` } });
  if (isError) throw new Error('The call failed.');
  return performance.now() - startedAt;
};
const at = (sorted, share) => sorted[Math.floor(sorted.length * share)];

const bare = await connect(server);
const guarded = await connect(guard, '--', process.execPath, server);
const times = { bare: [], guarded: [] };
for (let index = 0; index < warmUp + calls; index += 1) {
  const pair = { bare: await time(bare, index), guarded: await time(guarded, index) };
  if (index >= warmUp) for (const name of ['bare', 'guarded']) times[name].push(pair[name]);
}
await Promise.all([bare.close(), guarded.close()]);

for (const list of Object.values(times)) list.sort((one, other) => one - other);
for (const [name, share] of [
  ['p10', 0.1],
  ['median', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
]) {
  const [one, other] = [at(times.bare, share), at(times.guarded, share)];
  console.log(
    `${name.padEnd(6)} bare ${one.toFixed(2)} ms, guarded ${other.toFixed(2)} ms, added ${(other - one).toFixed(2)} ms`,
  );
}
