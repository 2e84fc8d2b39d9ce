import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder, startCoder } from './coder-process.js';
import { sampleProject } from './folders.js';
import { call, noAnswer, startModelServer, textOf, type Answer, type Answers } from './model-server.js';

type Asked = Parameters<typeof textOf>[0];

const isExplorer = (request: Asked): boolean => textOf(request).includes('You explore a code base for another agent');
const answersIn = ({ messages }: Asked): number => messages.filter(({ role }) => role === 'tool').length;

/** An agent that spawns an explorer and waits for it; the explorer searches once and reports. */
const scout = (request: Asked): Answer => {
  if (isExplorer(request)) {
    return answersIn(request) === 0
      ? call('grep', { pattern: 'parseDuration' }, 'look')
      : 'It is in src/duration.js, line 4.';
  }
  if (answersIn(request) === 0) return call('spawn', { agent: 'explore', task: 'Where is parseDuration?' }, 'spawn');
  return answersIn(request) === 1 ? call('wait', {}, 'wait') : 'The explorer says: src/duration.js.';
};

const run = async (answers: Answers, ...words: readonly string[]) => {
  const server = await startModelServer(answers);
  const workspace = await sampleProject();
  const environment = { ANTHROPIC_API_KEY: 'k', XDG_STATE_HOME: temporaryFolder() };
  const start = {
    words: ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', workspace, ...words],
    environment,
  };
  return { server, start, ...(await runCoder(start)) };
};

describe('an explorer', () => {
  it('explores for the agent and returns its report as evidence', async () => {
    const { server, start, code, stdout } = await run(scout, 'Where is parseDuration?');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^⎇ explore started$/m);
    expect(stdout).toMatch(/^⎇ explore ended: ok · 2 steps · tokens: [\d,]+ in, [\d,]+ out · /m);
    expect(stdout).toContain('The explorer says: src/duration.js.');
    const last = server.requests.filter((request) => !isExplorer(request)).at(-1);
    expect(last && textOf(last)).toMatch(
      /Sub-agent \S+ \(explore\) ended: ok[^]*EXTERNAL[^]*It is in src\/duration\.js, line 4\./i,
    );
    // The session of the explorer is not listed among the sessions of the user.
    const listed = await runCoder({ ...start, words: [...start.words.slice(0, 6), '--sessions'] });
    expect(listed.stdout.trim().split('\n')).toHaveLength(1);
  });

  it('counts towards the cost of the parent turn', async () => {
    const usage = { input_tokens: 1000, output_tokens: 100 };
    const server = await startModelServer((request) => {
      const answer = scout(request);
      return typeof answer === 'string' ? { content: answer, usage } : { ...answer, usage };
    });
    const words = [
      '--model',
      'anthropic/claude-sonnet-4-5',
      '--base-url',
      `${server.url}/v1`,
      '--workspace',
      await sampleProject(),
      'Where is parseDuration?',
    ];
    const { stdout } = await runCoder({
      words,
      environment: { ANTHROPIC_API_KEY: 'k', XDG_STATE_HOME: temporaryFolder() },
    });
    // Three calls of the agent and two of the explorer, at $3 and $15 per million tokens.
    expect(stdout).toContain(' · $0.0225 · ');
  });

  it('has read-only tools only', async () => {
    const { server } = await run(scout, 'Where is parseDuration?');
    const explorer = server.requests.find(isExplorer);
    expect(explorer?.tools?.map(({ function: { name } }) => name).toSorted()).toEqual([
      'glob',
      'grep',
      'read',
      'read_artifact',
    ]);
  });

  it('cannot change files with any call', async () => {
    const { server, stdout } = await run((request) => {
      if (!isExplorer(request)) return scout(request);
      return answersIn(request) === 0 ? call('write', { path: 'x.txt', content: 'x' }, 'write') : 'I could not.';
    }, 'Where is parseDuration?');
    const explorer = server.requests.filter(isExplorer).at(-1);
    expect(explorer && textOf(explorer)).toMatch(/may not use write|unknown/i);
    expect(stdout).toMatch(/files changed: none/);
  });

  it('is reported to the agent after its process was killed', async () => {
    const server = await startModelServer((request) => {
      if (isExplorer(request)) return noAnswer();
      return textOf(request).includes('What now?') ? 'I see.' : scout(request);
    });
    const words = ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', await sampleProject()];
    const environment = { ANTHROPIC_API_KEY: 'k', XDG_STATE_HOME: temporaryFolder() };
    const coder = startCoder({ words: [...words, 'Where is it?'], environment });
    await vi.waitFor(() => expect(server.requests.some(isExplorer)).toBe(true), 60_000);
    coder.signal('SIGKILL');
    await coder.finished;
    expect((await runCoder({ words: [...words, '--continue', 'What now?'], environment })).code).toBe(0);
    const heard = textOf(server.requests.at(-1) as Asked);
    expect(heard.match(/\(explore\) ended: interrupted/g)).toHaveLength(1);
    // The report is delivered only once.
    await runCoder({ words: [...words, '--continue', 'And what now? What now?'], environment });
    expect(textOf(server.requests.at(-1) as Asked).match(/\(explore\) ended: interrupted/g)).toHaveLength(1);
  });

  it('ends with a cancelled turn', async () => {
    const server = await startModelServer((request) => (isExplorer(request) ? noAnswer() : scout(request)));
    const workspace = await sampleProject();
    const words = [
      '--model',
      'anthropic/x',
      '--base-url',
      `${server.url}/v1`,
      '--workspace',
      workspace,
      'Where is it?',
    ];
    const coder = startCoder({
      words,
      environment: { ANTHROPIC_API_KEY: 'k', XDG_STATE_HOME: temporaryFolder() },
    });
    await coder.said('⎇ explore started');
    coder.signal('SIGINT');
    const { code, stdout } = await coder.finished;
    expect(code).toBe(130);
    expect(stdout).toContain('■ cancelled · The process received SIGINT.');
  });
});
