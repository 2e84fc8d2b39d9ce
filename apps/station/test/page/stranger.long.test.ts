import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { parseDocument } from 'yaml';
import { call, startModelServer } from '../model-server.js';
import { stationTabs } from './browser.js';

const { open } = stationTabs();
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const run = promisify(execFile);
/** With a folder in `SCREENSHOTS`, a picture of every step is stored there. */
const pictures = process.env['SCREENSHOTS'];
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const agentFile = `---
description: Keeps the notes of the team.
tools: [read, write]
policy:
  ask: [write]
---
You keep notes. Write them to notes.md.
`;

/** `npm run station` in a clone, with its processes in a group. */
const station = (clone: string, args: readonly string[], environment: Readonly<Record<string, string>>) => {
  const child = spawn('npm', ['run', 'station', '--', ...args], {
    cwd: clone,
    env: { ...process.env, ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', ...environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    // All processes of the group, as when the machine fails.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, signal);
    await ended;
  };
  onTestFinished(() => kill('SIGKILL').catch(() => undefined));
  const url = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /http:\S+#token=\S+/.exec(output);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    ended.then(() => reject(new Error(`The program has ended: ${output}`)), reject);
  });
  url.catch(() => undefined);
  return { url, ended, kill };
};

const signal = () => {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  onTestFinished(() => give());
  return { given, give: () => give() };
};

const freePort = (): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(String(typeof address === 'object' ? address?.port : 0)));
    });
  });

const picture = async (view: Page, name: string): Promise<void> => {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await view.screenshot({ path: join(pictures, `stranger-${name}.png`) });
};

it('leads from a clone over an agent file, a task and an approval to a restart', async (testing) => {
  const folder = await mkdtemp(join(tmpdir(), 'h-stranger-'));
  testing.onTestFinished(() => rm(folder, { recursive: true, force: true }), 120_000);
  const clone = join(folder, 'clone');
  const project = join(folder, 'project');
  await run('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, clone]);

  const startedAt = Date.now();
  const first = station(clone, ['--port', '0', '--data', join(folder, 'demo')], {});
  const demo = await open(testing, await first.url);
  await demo.view.locator('.session', { hasText: 'Release version' }).getByText('approval').waitFor();
  await testing.annotate(
    `From "npm run station" to sessions at work: ${Math.round((Date.now() - startedAt) / 1000)} s`,
  );
  await picture(demo.view, '1-demo');
  await first.kill('SIGTERM');
  await demo.view.close();

  await station(clone, ['init', project], {}).ended;
  const killed = signal();
  const asked = signal();
  const usage = { input_tokens: 12_000, output_tokens: 900 };
  const model = await startModelServer(async ({ messages }) => {
    const said = JSON.stringify(messages.at(-1));
    if (said.includes('How many')) {
      asked.give();
      await killed.given;
      return { content: 'notes.md has one line.', usage };
    }
    if (said.includes('Thank you')) return { content: 'You are welcome.', usage };
    if (messages.at(-1)?.role === 'tool') return { content: 'The note is in notes.md.', usage };
    return { content: 'I write it down.', ...call('write', { path: 'notes.md', content: 'Buy milk.\n' }), usage };
  });
  const config = join(project, 'config.yaml');
  const document = parseDocument(await readFile(config, 'utf8'));
  document.setIn(['models', 'providers'], { anthropic: { base_url: `${model.url}/v1` } });
  await writeFile(config, document.toString());
  await mkdir(join(project, 'agents'), { recursive: true });
  await writeFile(join(project, 'agents/secretary.md'), agentFile);

  const args = ['--config', config, '--port', await freePort(), '--data', join(folder, 'data')];
  const environment = { ANTHROPIC_API_KEY: 'sk-test' };
  const second = station(clone, args, environment);
  const desk = await open(testing, await second.url);
  await desk.view.getByRole('button', { name: 'New session', exact: true }).first().click();
  await desk.view.locator('.agent', { hasText: 'secretary' }).click();
  await desk.view.getByLabel('First message').fill('Note that we need milk.');
  await picture(desk.view, '2-new-session');
  await desk.view.getByRole('button', { name: 'Create session' }).click();
  await desk.view.locator('.approval').waitFor();
  await picture(desk.view, '3-approval');

  const hand = await open(testing, await second.url, phone);
  await hand.view.locator('.session', { hasText: 'Note that we need milk' }).getByText('approval').waitFor();
  await picture(hand.view, '4-phone-list');
  await hand.view.locator('.session', { hasText: 'Note that we need milk' }).tap();
  await hand.view.locator('.approval').getByText('Buy milk.').waitFor();
  await picture(hand.view, '5-phone-approval');
  await hand.view.getByRole('button', { name: 'Allow once' }).tap();
  await hand.view.getByText('The note is in notes.md.').waitFor();
  await picture(hand.view, '6-phone-answer');
  expect(readFileSync(join(project, 'workspace/notes.md'), 'utf8')).toBe('Buy milk.\n');
  await desk.view.getByText('The note is in notes.md.').waitFor();
  // Two calls of claude-sonnet-4-5 at 3 and 15 dollars per million tokens.
  await desk.view.locator('.session-line').getByText('$0.10').waitFor();
  await desk.view.getByLabel('Message', { exact: true }).fill('How many lines has the file?');
  await desk.view.keyboard.press('Enter');
  await asked.given;
  await second.kill('SIGKILL');
  await desk.view.locator('.connection[data-connection=offline]').waitFor();
  await picture(desk.view, '7-offline');
  killed.give();

  const third = station(clone, args, environment);
  const again = await third.url;
  await desk.view.getByText('does not accept the token').waitFor();
  // The same page with another fragment: it is not loaded again, and shows the session that it showed.
  await desk.view.goto(again);
  await desk.view.getByText('notes.md has one line.').waitFor();
  await desk.view.getByLabel('Message', { exact: true }).fill('Thank you.');
  await desk.view.keyboard.press('Enter');
  await desk.view.getByText('You are welcome.').waitFor();
  await picture(desk.view, '8-after-restart');
  await expect
    .poll(() => desk.view.locator('.entry[data-role=user] .markdown').allInnerTexts())
    .toEqual(['Note that we need milk.', 'How many lines has the file?', 'Thank you.']);
  await hand.view.getByText('does not accept the token').waitFor();
  await picture(hand.view, '9-phone-token');
  await desk.view.keyboard.press('Escape');
  await desk.view.keyboard.press('5');
  await desk.view.locator('.chart-bar span').first().waitFor();
  await picture(desk.view, '10-cost');
  expect([...demo.problems, ...desk.problems, ...hand.problems]).toEqual([]);
  await third.kill('SIGTERM');
});
