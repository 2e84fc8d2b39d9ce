// @ts-check
import assert from 'node:assert/strict';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSandbox } from '@h/sandbox';
import { reply } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { createAgent } from './agent.js';

/** Runs one turn with a scripted model in a temporary folder. */
const run = async (/** @type {Parameters<typeof scriptedModel>[0]} */ script) => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-'));
  const sessions = await mkdtemp(join(tmpdir(), 'sessions-'));
  const sandbox = await createSandbox({ mode: 'host', root: folder });
  const agent = createAgent({ model: scriptedModel(script), folder, sessions, sandbox });
  const result = await reply(agent.turn({ session: 'test', input: 'Go.' }));
  await sandbox.close();
  return { folder, ...result };
};

test('denies a destructive command', async () => {
  const { outcome, messages } = await run([response(call('1', 'bash', { command: 'rm -rf /' })), 'I could not.']);
  assert.equal(outcome, 'completed');
  assert.match(JSON.stringify(messages), /rm -rf/);
  assert.match(JSON.stringify(messages.find(({ role }) => role === 'tool')), /denied|destructive/i);
});

test('writes a file in its folder', async () => {
  const { folder } = await run([response(call('1', 'write', { path: 'a.txt', content: 'a' })), 'Done.']);
  assert.deepEqual(await readdir(folder), ['a.txt']);
});

test('stops a loop', async () => {
  const calls = Array.from({ length: 20 }, (_, index) => response(call(`${index}`, 'glob', { pattern: '*.none' })));
  const { outcome } = await run(calls);
  assert.equal(outcome, 'loop-detected');
});
