import { execFileSync } from 'node:child_process';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { main, runCoder, startProgram, type Running, type Start } from './coder-process.js';
import { sampleProject } from './folders.js';
import { call, noAnswer, startModelServer, textOf, type Answers } from './model-server.js';

const hasScript = ((): boolean => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

const enter = '\r';
const ctrlC = '\u0003';
const ctrlD = '\u0004';

/** Starts the app on a pseudo-terminal of `script` from util-linux. */
const startOnTerminal = ({ words = [], environment, ...start }: Start): Running => {
  const line = ['stty cols 100 rows 40; exec', process.execPath, main, ...words]
    .map((word, index) => (index === 0 ? word : `'${word}'`))
    .join(' ');
  return startProgram('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    ...start,
    environment: { SHELL: '/bin/sh', ...environment },
  });
};

const startWith = async (answers: Answers, { words = [], environment }: Start = {}, latencyMs = 0) => {
  const server = await startModelServer(answers, latencyMs);
  const folder = await sampleProject();
  const all = ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', folder, ...words];
  return {
    server,
    folder,
    coder: startOnTerminal({ words: all, environment: { ANTHROPIC_API_KEY: 'k', ...environment } }),
  };
};

/** Makes the beginning of escape sequences visible. */
const legible = (text: string): string => text.replaceAll('\u001B', '␛');

const idle = 'Enter a message; /help lists commands, Ctrl-D exits.';
const busy = 'Type to steer the turn; Ctrl-C cancels.';

describe.skipIf(!hasScript)('on a terminal (skipped without "script" of util-linux)', () => {
  it('shows streaming text, a spinner, colored calls and diffs, and a summary', async () => {
    const edit = call('edit', { path: 'src/duration.js', old: 'h: 3_600', new: 'h: 3600' });
    const { coder } = await startWith(
      [{ content: 'I look and change.', ...edit }, call('bash', { command: 'sleep 0.4; exit 3' }), 'All *done*.'],
      { words: ['Change it'] },
      5,
    );
    const { code, stdout } = await coder.finished;
    const shown = legible(stdout);
    expect(code).toBe(0);
    expect(shown).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]␛\[39m Waiting for the model␛\[2m · 0\.\d s · Ctrl-C cancels/);
    expect(shown).toMatch(/Running bash sleep 0\.4; exit 3␛\[2m · 0\.[1-9] s/);
    expect(shown).toContain('␛[32m✓␛[39m ␛[1medit␛[22m src/duration.js');
    expect(shown).toMatch(/␛\[31m *1 - const seconds = .*h: 3_600.*␛\[39m/);
    expect(shown).toMatch(/␛\[32m *1 \+ const seconds = .*h: 3600.*␛\[39m/);
    expect(shown).toContain('␛[31mfailed: exit code 3␛[39m');
    expect(shown).toContain('␛[32m✓ completed␛[39m');
    // The text is drawn in chunks.
    expect(shown).toMatch(/I look[^]*\r[^]*I look and change\./);
  });

  it('omits colors with NO_COLOR', async () => {
    const { coder } = await startWith([call('glob', { pattern: '*' }), 'Done.'], {
      words: ['Look'],
      environment: { NO_COLOR: '1' },
    });
    const { stdout } = await coder.finished;
    expect(stdout).toContain('✓ glob *');
    expect(legible(stdout)).not.toMatch(/␛\[[\d;]*m/);
  });

  it('writes plain lines on a dumb terminal', async () => {
    const { coder } = await startWith(['Done.'], { words: ['Look'], environment: { TERM: 'dumb' } });
    const { code, stdout } = await coder.finished;
    expect(code).toBe(0);
    expect(stdout).not.toContain('\u001B');
    expect(stdout).toContain('Done.');
  });

  it('holds a conversation in one session', async () => {
    const { coder, server } = await startWith(['Hello Ada.', 'Your name is Ada.']);
    await coder.said(idle);
    coder.type(`I am Ada${enter}`);
    await coder.said('Hello Ada.');
    await coder.said(/completed[^]*Enter a message/);
    coder.type(`Who am I?${enter}`);
    await coder.said(/Your name is Ada\.[^]*completed[^]*Enter a message/);
    coder.type(ctrlD);
    expect((await coder.finished).code).toBe(0);
    expect(server.requests[1]?.messages.filter(({ role }) => role !== 'system').map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  it('shows the contents of the context window and compacts it', async () => {
    const long = [1, 2, 3].map((id) => call('read', { path: 'long.txt' }, `call-${id}`));
    const { coder, folder, server } = await startWith([
      ...long,
      'I have read it.',
      'The file was read three times; nothing is left to do.',
    ]);
    await writeFile(
      join(folder, 'long.txt'),
      Array.from({ length: 800 }, (_, index) => `${index} is a line of a file that is read.`).join('\n'),
    );
    await coder.said(idle);
    coder.type(`/context${enter}`);
    await coder.said('Nothing has been sent to the model yet.');
    coder.type(`Read it${enter}`);
    await coder.said(/completed[^]*Enter a message/);
    coder.type(`/context${enter}`);
    await coder.said(/Context window[^]* of 200,000 tokens[^]*session prompt[^]*reserve for the answer/);
    coder.type(`/compact${enter}`);
    await coder.said(/⇣ compacted: [\d,]+ → [\d,]+ tokens \(summarize[^]*replied[^]*Enter a message/);
    expect(server.requests).toHaveLength(5);
    coder.type(ctrlD);
    expect((await coder.finished).code).toBe(0);
  });

  it('shows the activity of sub-agents, and lists them and the plan', async () => {
    let find = (_text: string): void => undefined;
    const found = new Promise<string>((resolve) => {
      find = resolve;
    });
    const { coder, folder } = await startWith((request) => {
      const asked = JSON.stringify(request.messages);
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      if (asked.includes('You explore a code base')) return results === 0 ? call('grep', { pattern: 'parse' }) : found;
      if (results === 0) return call('spawn', { agent: 'explore', task: 'Where is the parser?' });
      return results === 1 ? call('wait', {}, 'wait') : 'It is there.';
    });
    await coder.said(idle);
    coder.type(`/tasks${enter}`);
    await coder.said('No sub-agents are running, and this folder has no plan (--plan creates one).');
    coder.type(`Look${enter}`);
    await coder.said('⎇ explore started');
    coder.type(`/tasks${enter}`);
    await coder.said(/1 sub-agent:[^]*explore · running[^]*Where is the parser\?/);
    await coder.said(/⎇[^]*explore: Waiting for the model/);
    find('In src/duration.js.');
    await coder.said(/⎇ explore ended: ok · 2 steps[^]*It is there\.[^]*completed[^]*Enter a message/);
    const task = { title: 'Write it', acceptance: ['It is there.'], description: '', dependsOn: [], generation: 0 };
    const tasks = [
      { ...task, id: 'one', status: 'todo' },
      { ...task, id: 'two', status: 'blocked', blockedBy: 'a key is missing' },
    ];
    await writeFile(
      join(folder, 'agent-progress.json'),
      JSON.stringify({ format: 'agent-progress', version: 1, revision: 1, phase: 'working', goal: 'A shop', tasks }),
    );
    coder.type(`/tasks${enter}`);
    await coder.said(
      /one · Write it[^]*⊘[^]*two · Write it \(blocked: a key is missing\)[^]*0 of 2 tasks are done, 1 blocked\. Next: Write it \(one\)\./,
    );
    coder.type(ctrlD);
    expect((await coder.finished).code).toBe(0);
  });

  it('lets the user steer a plan', async () => {
    let goOn = (): void => undefined;
    const heard = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const task = { id: 'one', title: 'Write one', acceptance: ['It is there.'] };
    const answers: Answers = async (request) => {
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      if (textOf(request).includes('You open a project')) {
        return results === 0 ? call('task_plan', { goal: 'One file', tasks: [task] }) : 'It is planned.';
      }
      if (results > 0) return noAnswer();
      await heard;
      return call('glob', { pattern: '*' });
    };
    const { coder, server } = await startWith(answers, { words: ['--plan', '--check', 'true', 'Write one'] });
    await coder.said(/Session 2 · worker[^]*Waiting for the model[^]*Type to steer/);
    coder.type(`/tasks${enter}`);
    await coder.said(/one · Write one[^]*0 of 1 tasks are done/);
    coder.type(`In Latin, please${enter}`);
    await coder.said('› In Latin, please (delivered at the next step)');
    goOn();
    await vi.waitFor(
      () => expect(server.requests.filter((request) => textOf(request).includes('In Latin, please'))).toHaveLength(1),
      60_000,
    );
    coder.type(ctrlC);
    const { code, stdout } = await coder.finished;
    expect(stdout).toContain('cancelled');
    expect(code).toBe(130);
  });

  it('asks about the rules that a plan proposed', async () => {
    const task = { id: 'one', title: 'Write one', acceptance: ['It is there.'] };
    const answers: Answers = (request) => {
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      if (textOf(request).includes('Something went wrong while an agent worked')) return 'Run the checks first.';
      if (textOf(request).includes('You open a project')) {
        return results === 0 ? call('task_plan', { goal: 'One file', tasks: [task] }) : 'It is planned.';
      }
      return (
        [call('task_next', {}), call('task_done', { id: 'one', summary: 'It is written.' }, 'done')][results] ??
        'I give up.'
      );
    };
    const { coder, folder } = await startWith(answers, {
      words: ['--plan', '--check', 'false', '--max-sessions', '2', 'Write one'],
    });
    await coder.said(/max-sessions[^]*A rule for AGENTS\.md: Run the checks first\.[^]*Add it\? \(y\/n\)/);
    coder.type(`y${enter}`);
    expect((await coder.finished).code).toBe(3);
    expect(await readFile(join(folder, 'AGENTS.md'), 'utf8')).toContain('Run the checks first.');
  });

  it('reports lines that a plan did not deliver', async () => {
    const { coder } = await startWith(() => noAnswer(), { words: ['--plan', '--check', 'true', 'Write one'] });
    await coder.said('Waiting for the model');
    coder.type(`In Latin, please${enter}`);
    await coder.said('(delivered at the next step)');
    coder.type(ctrlC);
    const { code, stdout } = await coder.finished;
    expect(stdout).toContain('› In Latin, please (not delivered: the plan has stopped)');
    expect(code).toBe(130);
  });

  it('asks whether to resume an interrupted turn', async () => {
    const environment = { XDG_STATE_HOME: temporaryFolder() };
    const answers = [call('bash', { command: 'touch began; sleep 1000' }), 'I continue.', 'Hello again.'];
    const { coder: first, folder, server } = await startWith(answers, { words: ['Begin'], environment });
    await first.said('Running bash');
    await vi.waitFor(() => access(join(folder, 'began')), 60_000);
    // Kills the app before its terminal, because a closed terminal would end the app cleanly.
    execFileSync('pkill', ['-KILL', '-f', `^${process.execPath} .*${folder}`]);
    await first.finished;
    const words = ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', folder, '--continue'];
    const second = startOnTerminal({ words, environment: { ANTHROPIC_API_KEY: 'k', ...environment } });
    await second.said(/The latest turn was interrupted\.[^]*Resume it\? \(y\/n\)/);
    second.type(`y${enter}`);
    await second.said(/bash[^]*interrupted[^]*I continue\.[^]*completed[^]*Enter a message/);
    second.type(`Hello${enter}`);
    await second.said(/Hello again\.[^]*completed[^]*Enter a message/);
    second.type(ctrlD);
    expect((await second.finished).code).toBe(0);
  });

  it('asks again about a call that waited for approval when the process was killed', async () => {
    const environment = { XDG_STATE_HOME: temporaryFolder() };
    const answers = [call('bash', { command: 'echo ran >> ran.txt' }), 'It ran.'];
    const { coder, folder, server } = await startWith(answers, {
      words: ['--approve', 'always', 'Begin'],
      environment,
    });
    await coder.said('Allow it? (y/n');
    execFileSync('pkill', ['-KILL', '-f', `^${process.execPath} .*${folder}`]);
    await coder.finished;
    const words = ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', folder, '--continue'];
    const resumed = startOnTerminal({
      words: [...words, '--approve', 'always'],
      environment: { ANTHROPIC_API_KEY: 'k', ...environment },
    });
    await resumed.said(/Resume it\? \(y\/n\)/);
    resumed.type(`y${enter}`);
    await resumed.said('Allow it? (y/n');
    resumed.type(`y${enter}`);
    await resumed.said(/It ran\.[^]*completed[^]*Enter a message/);
    resumed.type(ctrlD);
    expect((await resumed.finished).code).toBe(0);
    expect(await readFile(join(folder, 'ran.txt'), 'utf8')).toBe('ran\n');
    expect(server.requests).toHaveLength(2);
  });

  it('steers the running turn with typed lines', async () => {
    const { coder, server, folder } = await startWith([
      call('bash', { command: 'touch began; while [ ! -e go ]; do sleep 0.1; done' }),
      'As you wish.',
    ]);
    await coder.said(idle);
    coder.type(`Begin${enter}`);
    await coder.said(busy);
    await coder.said('Running bash');
    coder.type(`Only the tests${enter}`);
    await coder.said('› Only the tests (delivered at the next step)');
    execFileSync('touch', [`${folder}/go`]);
    await coder.said(/As you wish\.[^]*completed[^]*Enter a message/);
    coder.type(`/exit${enter}`);
    expect((await coder.finished).code).toBe(0);
    expect(JSON.stringify(server.requests[1]?.messages)).toContain('Only the tests');
  });

  it('delivers lines typed in one burst, in this turn or the next', async () => {
    const { coder, server } = await startWith(['One.', 'Two.']);
    await coder.said(idle);
    coder.type(`First${enter}Second${enter}`);
    await vi.waitFor(() => expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain('Second'), 60_000);
    // Both turns have ended, if they are two.
    await coder.said(/Two\.[^]*completed[^]*Enter a message/);
    coder.type(ctrlD);
    expect((await coder.finished).code).toBe(0);
  });

  it('cancels the turn on Ctrl-C, continues, and exits on the next Ctrl-C', async () => {
    const { coder, server } = await startWith([call('bash', { command: 'sleep 1000' }), 'Back again.']);
    await coder.said(idle);
    coder.type(`Begin${enter}`);
    await coder.said('Running bash sleep 1000');
    coder.type(ctrlC);
    await coder.said('cancelled');
    await coder.said(/files changed: none[^]*Enter a message/);
    coder.type(`Continue${enter}`);
    await coder.said('Back again.');
    await coder.said(/completed[^]*Enter a message/);
    coder.type(ctrlC);
    expect((await coder.finished).code).toBe(0);
    expect(JSON.stringify(server.requests[1]?.messages)).toContain('Continue');
  });

  it('cancels a single turn on Ctrl-C', async () => {
    const { coder } = await startWith([call('bash', { command: 'sleep 1000' })], { words: ['Begin'] });
    await coder.said('Running bash sleep 1000');
    coder.type(ctrlC);
    const { code, stdout } = await coder.finished;
    expect(code).toBe(130);
    expect(stdout).toContain('■ cancelled');
  });

  it('clears the draft on Ctrl-C before it exits', async () => {
    const { coder } = await startWith([]);
    await coder.said(idle);
    coder.type('half a thought');
    await coder.said('half a thought');
    coder.type(ctrlC);
    await coder.said(/half a thought[^]*Enter a message/);
    coder.type(ctrlC);
    expect((await coder.finished).code).toBe(0);
  });

  it.each([
    ['a conversation', []],
    ['a plan', ['--plan', 'Look']],
  ])('ends the turn and the session of %s when the terminal closes', async (_, words) => {
    const home = temporaryFolder();
    const environment = { HOME: home, XDG_STATE_HOME: temporaryFolder() };
    await mkdir(join(home, '.claude'));
    const tell = { hooks: [{ type: 'command', command: 'echo over >> "$HOME/ended"' }] };
    await writeFile(join(home, '.claude', 'settings.json'), JSON.stringify({ hooks: { SessionEnd: [tell] } }));
    const { coder, folder } = await startWith([call('bash', { command: 'sleep 1000' })], { words, environment });
    if (words.length === 0) {
      await coder.said(idle);
      coder.type(`Look${enter}`);
    }
    await coder.said('Running bash');
    coder.signal('SIGKILL');
    await vi.waitFor(() => access(join(home, 'ended')), 20_000);
    const { stdout } = await runCoder({ words: ['--workspace', folder, '--sessions'], environment });
    expect(stdout).toMatch(/1 turn\s+Look\n$/);
  });

  it('cancels the running turn on Ctrl-D', async () => {
    const { coder } = await startWith([call('bash', { command: 'sleep 1000' })]);
    await coder.said(idle);
    coder.type(`Begin${enter}`);
    await coder.said('Running bash sleep 1000');
    coder.type(ctrlD);
    const { code, stdout } = await coder.finished;
    expect(code).toBe(130);
    expect(stdout).toContain('■ cancelled');
  });

  it('asks before a read outside the workspace, and accepts a denial', async () => {
    const { coder, server } = await startWith([call('read', { path: '/etc/hostname' }), 'I may not.'], {
      words: ['Look'],
    });
    await coder.said('A tool wants to read /etc/hostname, which is outside the workspace.');
    await coder.said('Allow it? (y/n/session/always');
    coder.type(`whatever${enter}`);
    await coder.said('Answer y, n, session or always');
    coder.type(`\u0015n${enter}`);
    await coder.said('I may not.');
    expect((await coder.finished).code).toBe(0);
    expect(JSON.stringify(server.requests[1]?.messages.at(-1))).toContain('not approved');
  });

  it('asks once about a folder that is always allowed', async () => {
    const outside = temporaryFolder();
    execFileSync('/bin/sh', ['-c', 'echo one > a; echo two > b'], { cwd: outside });
    const { coder, server } = await startWith([
      call('read', { path: `${outside}/a` }, '1'),
      call('read', { path: `${outside}/b` }, '2'),
      'Seen.',
    ]);
    await coder.said(idle);
    coder.type(`Look${enter}`);
    await coder.said('Allow it? (y/n/session/always');
    coder.type(`always${enter}`);
    await coder.said(/Seen\.[^]*completed[^]*Enter a message/);
    coder.type(ctrlD);
    const { stdout } = await coder.finished;
    expect(stdout.match(/A tool wants to read/g)).toHaveLength(1);
    expect(JSON.stringify(server.requests[2]?.messages.at(-1))).toContain('two');
  });

  it('restores the input line after an answer', async () => {
    const { coder } = await startWith([call('bash', { command: 'git push origin main' }), 'Then not.']);
    await coder.said(idle);
    coder.type(`Push it${enter}`);
    await coder.said('Allow it? (y/n/session/always: git push *)');
    coder.type(`n, not today${enter}`);
    await coder.said('denied: The user denied it: not today');
    await coder.said(/completed[^]*Enter a message/);
    coder.type('hello');
    await vi.waitFor(() => expect(legible(coder.output())).toMatch(/›(?:␛\[\d*m)* (?:␛\[\d*m)*hello/), 60_000);
    coder.type(`${ctrlC}${ctrlD}`);
    expect((await coder.finished).code).toBe(0);
  });

  it('cancels the turn on Ctrl-C during a question', async () => {
    const { coder } = await startWith([call('read', { path: '/etc/hostname' })], { words: ['Look'] });
    await coder.said('Allow it? (y/n/session/always');
    coder.type(ctrlC);
    expect((await coder.finished).code).toBe(130);
  });
});

describe('without a terminal', () => {
  it('denies calls that need approval', async () => {
    const server = await startModelServer([call('read', { path: '/etc/hostname' }), 'I may not.']);
    const words = [
      '--model',
      'ollama/x',
      '--base-url',
      `${server.url}/v1`,
      '--workspace',
      await sampleProject(),
      'Look',
    ];
    const { code, stdout } = await startProgram(process.execPath, [main, ...words]).finished;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✗ read \/etc\/hostname · .* leads out of the workspace/m);
  });
});
