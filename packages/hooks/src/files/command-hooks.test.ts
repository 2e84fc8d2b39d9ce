import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { harness, notice, intercept, reply, type JSONObject } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRunning, makeProject, type Project } from '../../test/project.js';
import { runTurn, type World } from '../../test/turns.js';
import { hooks } from '../hooks.js';
import { commandHooks } from './command-hooks.js';
import type { CommandHooksOptions } from './options.js';

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

const command = (text: string, more: object = {}) => ({ type: 'command', command: text, ...more });
const on = (matcher: string, ...commands: readonly object[]) => [{ matcher, hooks: commands }];
const load = (options: Partial<CommandHooksOptions> = {}) =>
  commandHooks({
    projectDir: project.folder,
    files: [{ path: join(project.folder, '.claude/settings.json'), scope: 'user' }],
    ...options,
  });

const ls: World = { script: [response(call('c1', 'bash', { command: 'ls -la', timeoutMs: 5000 })), 'Done.'] };
const run = async (settings: object, world: World = ls, options: Partial<CommandHooksOptions> = {}) => {
  await project.settings(settings);
  const commands = await load(options);
  try {
    return await runTurn([hooks([commands.hook])], world);
  } finally {
    commands.close();
  }
};
const written = async (path: string): Promise<JSONObject> =>
  JSON.parse(await readFile(join(project.folder, path), 'utf8')) as JSONObject;

/** A typical Python script that reads the tool input and blocks with exit code 2. */
const pythonGuard = `import json, sys
data = json.load(sys.stdin)
if data["tool_name"] == "Bash" and "rm -rf" in data["tool_input"]["command"]:
    print("Blocked: use trash instead", file=sys.stderr)
    sys.exit(2)
`;

describe('a command before a tool', () => {
  it('receives the common payload, the tool name and the input', async () => {
    const ran = await run({ PreToolUse: on('Bash', command('cat > seen.json')) }, ls, {
      transcriptPath: (session) => `/t/${session}.jsonl`,
    });
    expect(await written('seen.json')).toEqual({
      session_id: 's',
      transcript_path: '/t/s.jsonl',
      cwd: project.folder,
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls -la', timeout: 5000 },
      tool_use_id: 'c1',
    });
    expect(ran.tools.ran).toHaveLength(1);
  });

  it('blocks with exit code 2, and passes its standard error to the model', async () => {
    await project.write('.claude/hooks/guard.py', pythonGuard);
    const settings = { PreToolUse: on('Bash|Edit', command('python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.py')) };
    const blocked = await run(settings, { script: [response(call('c1', 'bash', { command: 'rm -rf /' })), 'Ok.'] });
    expect(blocked.tools.ran).toEqual([]);
    expect(blocked.transcript[2]).toBe('tool: execution-denied Blocked: use trash instead');
    expect((await run(settings)).tools.ran).toHaveLength(1);
  });

  it.each([
    ['deny', 'denied', 0],
    ['allow', 'ok', 1],
  ])('decides %s with JSON output of node', async (permissionDecision, status, count) => {
    await project.write(
      'hook.mjs',
      `console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: '${permissionDecision}', permissionDecisionReason: 'Because.' } }));`,
    );
    const ran = await run({ PreToolUse: on('*', command('node hook.mjs')) });
    expect(ran.of('tool.result')).toMatchObject([{ status }]);
    expect(ran.tools.ran).toHaveLength(count);
  });

  it('requests approval', async () => {
    const text = JSON.stringify({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask', permissionDecisionReason: 'Sure?' },
    });
    const ran = await run(
      { PreToolUse: on('Bash', command(`echo '${text}'`)) },
      { ...ls, on: (event, agent) => void (event.type === 'approval.request' && agent.answer(event.id, 'once')) },
    );
    expect(ran.of('approval.request')).toMatchObject([{ reason: 'Sure?' }]);
    expect(ran.tools.ran).toHaveLength(1);
  });

  it('changes the input under the tool names of hook files, and adds context for the model', async () => {
    const text = JSON.stringify({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'allow',
        updatedInput: { file_path: join(project.folder, 'b.txt'), old_string: 'a', new_string: 'b' },
        additionalContext: 'Moved.',
      },
    });
    const tools = scriptedTools({ edit: 'edited' });
    const ran = await run(
      { PreToolUse: on('Edit|Write', command(`cat > seen.json; echo '${text}'`)) },
      { tools, script: [response(call('c1', 'edit', { path: 'a.txt', old: 'x', new: 'y', replaceAll: true })), 'Ok.'] },
    );
    expect((await written('seen.json'))['tool_input']).toEqual({
      file_path: join(project.folder, 'a.txt'),
      old_string: 'x',
      new_string: 'y',
      replace_all: true,
    });
    expect(tools.ran).toMatchObject([{ input: { path: 'b.txt', old: 'a', new: 'b' } }]);
    expect(ran.transcript[2]).toBe('tool: text edited\n\nMoved.');
  });

  it('gives a block precedence over a request, and a request over an allowance', async () => {
    const say = (permissionDecision: string) =>
      command(
        `echo '${JSON.stringify({ hookSpecificOutput: { permissionDecision, permissionDecisionReason: permissionDecision } })}'`,
      );
    const ran = await run({ PreToolUse: on('Bash', say('allow'), say('ask'), say('deny')) });
    expect(ran.of('tool.result')).toMatchObject([{ status: 'denied', reason: 'deny' }]);
    expect(ran.of('approval.request')).toEqual([]);
  });

  it('runs in parallel with other commands, and once if it is listed twice', async () => {
    const one = 'echo x >> a.txt; until [ -e two.txt ]; do sleep 0.05; done; echo y > one.txt';
    const two = 'echo x >> a.txt; touch two.txt';
    await run({ PreToolUse: [...on('Bash', command(one), command(two)), ...on('.*', command(one))] });
    expect(await readFile(join(project.folder, 'a.txt'), 'utf8')).toBe('x\nx\n');
    expect(await readFile(join(project.folder, 'one.txt'), 'utf8')).toBe('y\n');
  });

  it.each([
    ['Bash', 1],
    ['bash', 1],
    ['Bash|Edit', 1],
    ['Edit, Bash', 1],
    ['^B', 1],
    ['', 1],
    ['*', 1],
    ['Edit', 0],
    ['Bas', 0],
    ['B(', 0],
    ['mcp__.*', 0],
  ])('runs for the matcher %j %i time(s)', async (matcher, count) => {
    await run({ PreToolUse: on(matcher, command('echo x >> a.txt')) });
    expect(existsSync(join(project.folder, 'a.txt')) ? 1 : 0).toBe(count);
  });

  it.each([
    ['Bash(ls *)', 1],
    ['Bash(git push *)', 0],
    ['Edit(*)', 0],
    ['Bash', 1],
    ['Bash(ls:*)', 1],
  ])('runs under the condition %j %i time(s)', async (condition, count) => {
    await run({ PreToolUse: on('Bash', command('echo x >> a.txt', { if: condition })) });
    expect(existsSync(join(project.folder, 'a.txt')) ? 1 : 0).toBe(count);
  });

  it('runs once per session with `once`, and without a shell with arguments', async () => {
    const script = [
      response(call('c1', 'bash', { command: 'ls' })),
      response(call('c2', 'bash', { command: 'ls' })),
      'Done.',
    ];
    await run(
      {
        PreToolUse: on(
          'Bash',
          command('echo x >> a.txt', { once: true }),
          command('node', { args: ['-e', `require('fs').appendFileSync('b.txt', '$HOME;')`] }),
        ),
      },
      { script },
    );
    expect(await readFile(join(project.folder, 'a.txt'), 'utf8')).toBe('x\n');
    expect(await readFile(join(project.folder, 'b.txt'), 'utf8')).toBe('$HOME;$HOME;');
  });

  it('reports other exit codes without an effect, unless `onFailure` is set', async () => {
    const ran = await run({ PreToolUse: on('Bash', command('echo Oops >&2; exit 1')) });
    expect(ran.tools.ran).toHaveLength(1);
    expect(ran.of('hook.notice')[0]?.message).toContain('Oops');
    expect((await run({ PreToolUse: on('Bash', command('exit 1', { onFailure: 'block' })) })).tools.ran).toEqual([]);
  });

  it.each([
    ['takes too long', command('sleep 30', { timeout: 0.2 }), /took longer than 0.2 s/],
    ['is killed', command('kill -9 $$'), /was killed/],
    ['writes JSON in another form', command(`echo '{"decision":"maybe"}'`), /not supported/],
    ['cannot be started', command('/no/such/program', { args: [] }), /could not be started/],
  ])('blocks if it %s', async (_what, definition, reason) => {
    const ran = await run({ PreToolUse: on('Bash', definition) });
    expect(ran.tools.ran).toEqual([]);
    expect(ran.of('tool.result')).toMatchObject([
      { status: 'denied', reason: expect.stringMatching(reason) as string },
    ]);
    const open = await run({ PreToolUse: on('Bash', { ...definition, onFailure: 'continue' }) });
    expect(open.tools.ran).toHaveLength(1);
  });

  it('stops the turn', async () => {
    const ran = await run({ PreToolUse: on('Bash', command(`echo '{"continue": false, "stopReason": "Enough."}'`)) });
    expect(ran.end).toMatchObject({ outcome: 'blocked', reason: 'Enough.' });
    expect(ran.tools.ran).toEqual([]);
  });

  it('handles endless output, unread input and leftover processes', async () => {
    const ran = await run({
      PreToolUse: on(
        'Bash',
        command('head -c 5000000 /dev/zero | tr "\\0" x'),
        command('exec 0<&-; exit 0'),
        command('sleep 300 & exit 0'),
      ),
    });
    expect(ran.tools.ran).toHaveLength(1);
  });
});

describe('a command after a tool', () => {
  it('receives the result and adds feedback', async () => {
    const ran = await run({ PostToolUse: on('Bash', command('cat > seen.json; echo "Lint: 2 errors" >&2; exit 2')) });
    expect(await written('seen.json')).toMatchObject({
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_response: { stdout: 'ran', stderr: '', interrupted: false },
    });
    expect(ran.transcript[2]).toBe('tool: text ran\n\nLint: 2 errors');
  });

  it('extends or replaces the result with JSON output', async () => {
    const output = {
      decision: 'block',
      reason: 'Fix it.',
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        additionalContext: 'See line 3.',
        updatedToolOutput: 'clean',
      },
    };
    const ran = await run({ PostToolUse: on('Bash', command(`echo '${JSON.stringify(output)}'`)) });
    expect(ran.transcript[2]).toBe('tool: text clean\n\nFix it.\n\nSee line 3.');
  });

  it('does not run for a failed call, which has a separate event', async () => {
    const tools = scriptedTools({
      bash: () => {
        throw new Error('exit 1');
      },
    });
    await run(
      { PostToolUse: on('', command('touch ok')), PostToolUseFailure: on('', command('cat > failed.json')) },
      { ...ls, tools },
    );
    expect(existsSync(join(project.folder, 'ok'))).toBe(false);
    expect(await written('failed.json')).toMatchObject({ tool_name: 'Bash', error: 'exit 1' });
  });
});

describe('commands around a turn', () => {
  it('add their output to the prompt, at session start and for each prompt', async () => {
    await project.settings({
      SessionStart: on('startup', command('echo "Branch: main"')),
      UserPromptSubmit: [{ hooks: [command('cat > seen.json; echo "It is noon."')] }],
    });
    const commands = await load();
    const model = scriptedModel(['One.', 'Two.']);
    const agent = harness({ model }).pipe(hooks([commands.hook]));
    await reply(agent.turn({ session: 's', input: 'Hello' }));
    expect(await written('seen.json')).toMatchObject({ hook_event_name: 'UserPromptSubmit', prompt: 'Hello' });
    await reply(agent.turn({ session: 's', input: 'Again' }));
    expect(
      [...(model.requests[1]?.messages ?? [])]
        .map(({ content }) => content)
        .filter((content) => typeof content === 'string'),
    ).toEqual(['Hello', 'Branch: main\n\nIt is noon.', 'Again', 'It is noon.']);
  });

  it('block a prompt', async () => {
    const ran = await run(
      { UserPromptSubmit: [{ hooks: [command('grep -q password && { echo "No passwords." >&2; exit 2; }; exit 0')] }] },
      { input: 'The password is x' },
    );
    expect(ran.end).toMatchObject({ outcome: 'blocked', reason: 'No passwords.' });
    expect(ran.transcript).toEqual([]);
  });

  it.each([
    ['user', 'Stop'],
    ['subagent', 'SubagentStop'],
  ] as const)('send a turn by a %s back at %s, and know that they have', async (trigger, event) => {
    await project.write(
      'stop.sh',
      '#!/bin/sh\ninput=$(cat)\ncase "$input" in *\'"stop_hook_active":true\'*) exit 0;; esac\necho "Run the tests first." >&2\nexit 2\n',
    );
    await project.settings({
      [event]: [{ hooks: [command('cat > seen.json < /dev/null; "$CLAUDE_PROJECT_DIR/stop.sh"')] }],
    });
    const commands = await load();
    const agent = harness({ model: scriptedModel(['Done?', 'Done.']) }).pipe(hooks([commands.hook]));
    const { messages, outcome } = await reply(agent.turn({ session: 's', input: 'Go', trigger }));
    expect(outcome).toBe('completed');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(messages[2]?.content).toBe('Run the tests first.');
  });

  it('run for a compaction, an approval request and the end of a session', async () => {
    await project.settings({
      PreCompact: on('auto', command('cat > compact.json')),
      Notification: on('', command('cat > notification.json')),
      SessionEnd: [{ hooks: [command('cat > end.json')] }],
      PreToolUse: on('Bash', command(`echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'`)),
    });
    const commands = await load();
    const rules = [commands.hook];
    const compacts = intercept('compaction', () => ({
      decide: {
        'model.request': (event) => [notice('compaction.started' as never, { trigger: 'threshold' } as never), event],
      },
    }));
    await runTurn([hooks(rules), compacts], {
      ...ls,
      on: (event, agent) => void (event.type === 'approval.request' && agent.answer(event.id, 'once')),
    });
    await commands.endSession('s', 'logout');
    expect(await written('compact.json')).toMatchObject({ hook_event_name: 'PreCompact', trigger: 'auto' });
    expect(await written('notification.json')).toMatchObject({
      hook_event_name: 'Notification',
      notification_type: 'permission_prompt',
      message: expect.stringContaining('Bash') as string,
    });
    expect(await written('end.json')).toMatchObject({
      hook_event_name: 'SessionEnd',
      session_id: 's',
      reason: 'logout',
    });
  });

  it('run in the background until they are closed', async () => {
    await project.settings({ PreToolUse: on('Bash', command('echo $$ > pid; exec sleep 60', { async: true })) });
    const commands = await load();
    const ran = await runTurn([hooks([commands.hook])], ls);
    expect(ran.tools.ran).toHaveLength(1);
    const pid = await pidIn('pid');
    expect(isRunning(pid)).toBe(true);
    commands.close();
    await gone(pid);
  });
});

const pidIn = async (path: string): Promise<number> => {
  const file = join(project.folder, path);
  for (let tries = 0; tries < 500; tries += 1) {
    const text = existsSync(file) ? await readFile(file, 'utf8') : '';
    if (text.endsWith('\n')) return Number(text);
    await sleep(10);
  }
  throw new Error(`${path} was never written`);
};

const gone = async (pid: number): Promise<void> => {
  for (let tries = 0; tries < 500 && isRunning(pid); tries += 1) await sleep(10);
  expect(isRunning(pid), `process ${pid} is left`).toBe(false);
};

describe('the processes of a command', () => {
  // The command and its child ignore SIGTERM.
  const stubborn = `trap '' TERM; (trap '' TERM; echo $BASHPID > child; while :; do sleep 0.05; done) & echo $$ > parent; while :; do sleep 0.05; done`;

  it('are killed as a group after the time limit', async () => {
    const ran = await run({ PreToolUse: on('Bash', command(stubborn, { timeout: 0.5 })) });
    expect(ran.tools.ran).toEqual([]);
    for (const path of ['parent', 'child']) await gone(await pidIn(path));
  });

  it('are killed if only the child ignores SIGTERM', async () => {
    const child = `(trap '' TERM; echo $BASHPID > child; while :; do sleep 0.05; done) & echo $$ > parent; wait`;
    await run({ PreToolUse: on('Bash', command(child, { timeout: 0.5 })) });
    for (const path of ['parent', 'child']) await gone(await pidIn(path));
  });

  it.each(['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop'])(
    'are killed if the subscriber leaves during %s',
    async (event) => {
      const work = event === 'PreToolUse' ? stubborn : stubborn.replaceAll("trap '' TERM; ", '');
      await project.settings({ [event]: on('', command(work)) });
      const commands = await load();
      const agent = harness({
        model: scriptedModel([response(call('c1', 'bash', { command: 'ls' })), 'Done.']),
        tools: scriptedTools({ bash: 'ran' }),
      }).pipe(hooks([commands.hook]));
      const turn = agent.turn({ session: 's', input: 'Go' }).subscribe();
      const pids = await Promise.all(['parent', 'child'].map(pidIn));
      turn.unsubscribe();
      for (const pid of pids) await gone(pid);
    },
  );

  it('receive no secrets or code-injecting variables, except allowed variables', async () => {
    const env = {
      PATH: process.env['PATH'],
      HOME: '/home/x',
      ANTHROPIC_API_KEY: 'sk',
      AWS_SECRET_ACCESS_KEY: 's',
      GITHUB_TOKEN: 't',
      NPM_TOKEN: 'n',
      DATABASE_URL: 'd',
      NODE_OPTIONS: '--require x',
      KEYBOARD: 'us',
      LANG: 'C',
    };
    await run({ PreToolUse: on('Bash', command('env > env.txt')) }, ls, { env, keepEnv: ['NPM_TOKEN'] });
    const names = (await readFile(join(project.folder, 'env.txt'), 'utf8'))
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names).toEqual(
      expect.arrayContaining(['PATH', 'HOME', 'KEYBOARD', 'LANG', 'NPM_TOKEN', 'CLAUDE_PROJECT_DIR']),
    );
    for (const name of ['ANTHROPIC_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN', 'DATABASE_URL', 'NODE_OPTIONS']) {
      expect(names).not.toContain(name);
    }
  });
});

describe('commandHooks', () => {
  it('reads user and project files, and reports unsupported entries', async () => {
    await project.write('home/settings.json', JSON.stringify({ hooks: { PreToolUse: on('Bash', command('true')) } }));
    await project.write('.claude/settings.local.json', 'not JSON');
    await project.settings({
      PreToolUse: on(
        'Bash',
        { type: 'prompt', prompt: 'Fine?' },
        command('true', { timeout: 'long' }),
        command('exit 0'),
      ),
      WorktreeCreate: [],
      Stop: 'x',
    });
    const commands = await commandHooks({
      projectDir: project.folder,
      env: { CLAUDE_CONFIG_DIR: join(project.folder, 'home') },
    });
    expect(
      commands.definitions.map(({ command: text, scope, timeoutSeconds }) => [text, scope, timeoutSeconds]),
    ).toEqual([
      ['true', 'user', 600],
      ['exit 0', 'project', 600],
    ]);
    expect(commands.problems).toHaveLength(5);
    expect(commands.problems.join('\n')).toMatch(
      /"prompt" is not supported[^]*timeout[^]*WorktreeCreate is not a supported event[^]*Stop is ignored[^]*settings.local.json cannot be read/,
    );
  });

  it.skipIf(process.platform === 'win32')(
    'follows a link to a settings file, and does not wait for a pipe',
    async () => {
      await project.write('home/settings.json', JSON.stringify({ hooks: { PreToolUse: on('Bash', command('true')) } }));
      await mkdir(join(project.folder, '.claude'));
      await symlink(join(project.folder, 'home/settings.json'), join(project.folder, '.claude/settings.json'));
      const pipe = join(project.folder, '.claude/settings.local.json');
      execFileSync('mkfifo', [pipe]);
      const { definitions, problems } = await commandHooks({ projectDir: project.folder, env: { HOME: '/nowhere' } });
      expect(definitions).toHaveLength(1);
      expect(problems).toEqual([expect.stringContaining(`${pipe} is not a regular file`)]);
    },
  );

  it.each([
    ['HOME', '.'],
    ['CLAUDE_CONFIG_DIR', '.claude'],
  ])('requires trust in hooks of a project in which a relative %s is the folder of the user', async (name, folder) => {
    await project.settings({ PreToolUse: on('Bash', command('echo project')) });
    const env = { HOME: '/nowhere', [name]: relative(process.cwd(), join(project.folder, folder)) };
    const { definitions } = await commandHooks({ projectDir: project.folder, env });
    const found = definitions.filter((definition) => definition.command === 'echo project');
    expect(found.map(({ scope }) => scope)).toEqual(['project']);
  });

  it('reads the valid groups beside an invalid one, and a file with a byte order mark', async () => {
    const groups = [...on('Bash', command('true')), { matcher: 5, hooks: [] }, ...on('', command('exit 0'))];
    await project.write('.claude/settings.json', `\u{FEFF}${JSON.stringify({ hooks: { PreToolUse: groups } })}`);
    const { definitions, problems } = await load();
    expect(definitions.map(({ command: text }) => text)).toEqual(['true', 'exit 0']);
    expect(problems).toEqual([expect.stringMatching(/PreToolUse\[1\] is ignored[^]*matcher/)]);
  });

  it.each([
    ['async', { async: true }],
    ['shorter and fails open', { timeout: 0.01, onFailure: 'continue' }],
  ])('runs a gate of the user although a project defines the same command as %s', async (_what, more) => {
    const guard = 'sleep 0.1; exit 2';
    const user = join(project.folder, 'user.json');
    await project.write('user.json', JSON.stringify({ hooks: { PreToolUse: on('Bash', command(guard)) } }));
    const files = [
      { path: user, scope: 'user' as const },
      { path: join(project.folder, '.claude/settings.json'), scope: 'project' as const },
    ];
    for (const order of [files, files.toReversed()]) {
      const ran = await run({ PreToolUse: on('Bash', command(guard, more)) }, ls, { files: order, trust: () => true });
      expect(ran.tools.ran).toEqual([]);
    }
  });

  it('runs no command if a file disables all hooks', async () => {
    await project.settings({ PreToolUse: on('Bash', command('exit 2')) }, { disableAllHooks: true });
    expect((await load()).definitions).toEqual([]);
  });

  it('runs the commands of the user although a project disables all hooks', async () => {
    const user = join(project.folder, 'user.json');
    await writeFile(user, JSON.stringify({ hooks: { PreToolUse: on('Bash', command('exit 2')) } }));
    await project.settings({ PreToolUse: on('Bash', command('exit 1')) }, { disableAllHooks: true });
    const { definitions } = await load({
      files: [
        { path: user, scope: 'user' },
        { path: join(project.folder, '.claude/settings.json'), scope: 'project' },
      ],
    });
    expect(definitions).toMatchObject([{ command: 'exit 2', scope: 'user' }]);
  });

  it.each([
    {},
    { projectDir: '/', file: [] },
    { projectDir: '/', files: [{ path: 'a', scope: 'mine' }] },
    { projectDir: '/', trust: true },
  ])('rejects %j', async (options) => {
    await expect(commandHooks(options as never)).rejects.toMatchObject({ code: 'invalid-option' });
  });
});
