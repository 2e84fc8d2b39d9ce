import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messages, post, sendMessage, startProvider } from './provider.js';

const folder = mkdtempSync(join(tmpdir(), 'model-proxy-crash-'));
const script = join(folder, 'main.mjs');
const children = new Set<ChildProcess>();

const startChild = async (
  isRead = true,
): Promise<{ readonly url: string; kill(signal: NodeJS.Signals): Promise<unknown> }> => {
  const child = spawn(process.execPath, [script, '--config', join(folder, 'config.yaml')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  if (isRead) child.stderr.pipe(process.stderr, { end: false });
  else child.stderr.destroy();
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return {
    url: /http:\S+\d/.exec(line)?.[0] ?? '',
    kill: async (signal) => {
      const exit = once(child, 'exit');
      child.kill(signal);
      const [code] = (await exit) as [unknown];
      children.delete(child);
      return code;
    },
  };
};

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL('../src/main.ts', import.meta.url))],
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@h/source'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'silent',
  });
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('a killed proxy', () => {
  it('has counted and logged finished calls, and counted the estimate of running ones', async () => {
    let isHanging = false;
    const provider = await startProvider((_, outgoing) => {
      if (!isHanging) return sendMessage(outgoing, { input: 900, output: 100 });
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write('data: {"type":"ping"}\n\n');
    });
    writeFileSync(
      join(folder, 'config.yaml'),
      `listen: { port: 0 }\nanthropic: { url: "${provider.url}" }\nstate: ${join(folder, 'state')}\nbudgets: { day: { tokens: 1200 } }\nlog: ${join(folder, 'calls.jsonl')}\n`,
    );
    const first = await startChild();
    expect((await post(first.url, messages('a'))).status).toBe(200);
    isHanging = true;
    const hanging = await post(first.url, messages('b'));
    expect(hanging.status).toBe(200);
    await first.kill('SIGKILL');
    const [line] = readFileSync(join(folder, 'calls.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(line ?? '')).toMatchObject({ type: 'model.call', status: 200 });

    isHanging = false;
    const second = await startChild();
    const refused = await post(second.url, messages('c'));
    expect(refused.status).toBe(429);
    const { error } = (await refused.json()) as { readonly error: { readonly message: string } };
    // 1000 tokens of the first call, and the estimate of the second.
    expect(Number(/has used (\d+) tokens/.exec(error.message)?.[1])).toBeGreaterThan(1100);
    expect(await second.kill('SIGTERM')).toBe(0);
    await provider.close();
  });
});

describe('a proxy whose log has no reader', () => {
  it('continues to answer', async () => {
    const provider = await startProvider((_, outgoing) => sendMessage(outgoing, { input: 900, output: 100 }));
    writeFileSync(
      join(folder, 'config.yaml'),
      `listen: { port: 0 }\nanthropic: { url: "${provider.url}" }\nstate: ${join(folder, 'unread')}\nlog: "-"\n`,
    );
    const proxy = await startChild(false);
    for (const text of ['a', 'b', 'c']) expect((await post(proxy.url, messages(text))).status).toBe(200);
    await proxy.kill('SIGTERM');
    await provider.close();
  });
});
