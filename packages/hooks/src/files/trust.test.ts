import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { harness, reply } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeProject, type Project } from '../../test/project.js';
import { runTurn } from '../../test/turns.js';
import { hooks } from '../hooks.js';
import { commandHooks } from './command-hooks.js';
import type { CommandDefinition } from './definitions.js';
import { trustFile, trustRequestOf, type HookTrust, type TrustQuestion } from './trust.js';

let project: Project;
beforeEach(async () => {
  project = await makeProject();
  await project.write('hooks/guard.sh', '#!/bin/sh\necho ran >> "$CLAUDE_PROJECT_DIR/ran.txt"\n');
  await use('"$CLAUDE_PROJECT_DIR"/hooks/guard.sh --strict');
});
afterEach(() => project.remove());

const use = (command: string, matcher = 'Bash') =>
  project.settings({ PreToolUse: [{ matcher, hooks: [{ type: 'command', command }] }] });
const script = [
  response(call('c1', 'bash', { command: 'ls' })),
  response(call('c2', 'bash', { command: 'ls' })),
  'Done.',
];
const run = async (trust: HookTrust | undefined) => {
  const commands = await commandHooks({
    projectDir: project.folder,
    env: { PATH: process.env['PATH'] },
    ...(trust && { trust }),
  });
  const ran = await runTurn([hooks([commands.hook])], { script });
  return { notices: ran.of('hook.notice').map(({ message }) => message), end: ran.end, tools: ran.tools };
};
const times = async (): Promise<number> => {
  const path = join(project.folder, 'ran.txt');
  return existsSync(path) ? (await readFile(path, 'utf8')).split('\n').length - 1 : 0;
};

describe('a command of the project', () => {
  it('does not run without a trust decision, and emits one notice', async () => {
    const { notices, tools } = await run(undefined);
    expect(await times()).toBe(0);
    expect(notices).toEqual([expect.stringContaining('is not trusted')]);
    expect(tools.ran).toHaveLength(2);
  });

  it.each<[string, HookTrust]>([
    ['says no', () => false],
    ['answers something else than yes', (() => 'yes') as never],
    [
      'throws',
      () => {
        throw new Error('No terminal.');
      },
    ],
    ['rejects', () => Promise.reject(new Error('No terminal.'))],
  ])('is not run if the trust function %s', async (_what, trust) => {
    await run(trust);
    expect(await times()).toBe(0);
  });

  it('requires trust once, and again after its script or the command changes', async () => {
    const questions: TrustQuestion[] = [];
    const trust = trustFile({
      path: join(project.folder, 'state', 'trusted.json'),
      ask: (question) => questions.push(question) > 0,
    });
    await run(trust);
    await run(trust);
    expect(questions.map(({ change, files }) => [change, files.length])).toEqual([['unknown', 1]]);
    expect(await times()).toBe(4);
    expect((await stat(join(project.folder, 'state', 'trusted.json'))).mode & 0o077).toBe(0);

    await project.write('hooks/guard.sh', '#!/bin/sh\ntouch "$CLAUDE_PROJECT_DIR/stolen"\n');
    const refusing = trustFile({
      path: join(project.folder, 'state', 'trusted.json'),
      ask: (question) => {
        questions.push(question);
        return false;
      },
    });
    await run(refusing);
    expect(existsSync(join(project.folder, 'stolen'))).toBe(false);
    await use('"$CLAUDE_PROJECT_DIR"/hooks/guard.sh; curl evil');
    await run(refusing);
    expect(questions.map(({ change }) => change)).toEqual(['unknown', 'changed', 'changed']);
    await run(trustFile({ path: join(project.folder, 'state', 'trusted.json') }));
    expect(existsSync(join(project.folder, 'stolen'))).toBe(false);
  });

  it('requires trust again if its script changes during a turn', async () => {
    const hashes: string[] = [];
    await project.write('hooks/guard.sh', '#!/bin/sh\necho "# changed" >> "$0"\n');
    await run(({ hash }) => hashes.push(hash) > 0);
    expect(new Set(hashes).size).toBe(2);
  });

  it('evaluates its matcher only if it is trusted', async () => {
    await use('true', '^(b+)+$|x');
    const asked: string[] = [];
    await run(({ definition }) => {
      asked.push(definition.matcher);
      return false;
    });
    expect(asked).toEqual(['^(b+)+$|x']);
  });

  it('keeps what another process has trusted or revoked while the user was asked', async () => {
    const path = join(project.folder, 'trusted.json');
    const write = (trusted: object): Promise<void> => writeFile(path, JSON.stringify({ version: 1, trusted }));
    await write({ revoked: 'hash' });
    const ask = async (): Promise<boolean> => {
      await write({ other: 'hash' });
      return true;
    };
    await run(trustFile({ path, ask }));
    const { trusted } = JSON.parse(await readFile(path, 'utf8')) as { readonly trusted: object };
    expect([Object.keys(trusted).length, Object.keys(trusted)]).toEqual([2, expect.arrayContaining(['other'])]);
    expect(await times()).toBe(2);
  });

  it('requires trust again if the turn was cancelled during the question', async () => {
    let asked = 0;
    const cancelled = new AbortController();
    const trust: HookTrust = (_, { signal }) => {
      asked += 1;
      if (asked > 1) return true;
      cancelled.abort('The user pressed Ctrl-C.');
      return new Promise((resolve) => {
        if (signal.aborted) resolve(false);
        else signal.addEventListener('abort', () => resolve(false), { once: true });
      });
    };
    const commands = await commandHooks({ projectDir: project.folder, env: { PATH: process.env['PATH'] }, trust });
    const agent = harness({
      model: scriptedModel([...script.slice(0, 1), ...script]),
      tools: scriptedTools({ bash: 'ran' }),
    }).pipe(hooks([commands.hook]));
    const first = await reply(agent.turn({ session: 'a', input: 'Begin.', signal: cancelled.signal }));
    expect([first.outcome, await times()]).toEqual(['cancelled', 0]);
    await reply(agent.turn({ session: 'a', input: 'Continue.' }));
    expect([asked, await times()]).toEqual([2, 2]);
  });

  it('asks again for a turn that waited for the question of a cancelled one', async () => {
    let asked = 0;
    const cancelled = new AbortController();
    let isAsked = (): void => undefined;
    const firstQuestion = new Promise<void>((resolve) => (isAsked = resolve));
    const trust: HookTrust = async (_, { signal }) => {
      asked += 1;
      if (asked > 1) return true;
      isAsked();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false), { once: true }));
    };
    const commands = await commandHooks({ projectDir: project.folder, env: { PATH: process.env['PATH'] }, trust });
    const turn = async (signal?: AbortSignal) =>
      reply(
        harness({ model: scriptedModel(script), tools: scriptedTools({ bash: 'ran' }) })
          .pipe(hooks([commands.hook]))
          .turn({ session: 'a', input: 'Begin.', ...(signal && { signal }) }),
      );
    const first = turn(cancelled.signal);
    await firstQuestion;
    const others = [turn(), turn()];
    await sleep(50);
    cancelled.abort();
    await first;
    await Promise.all(others);
    expect([asked, await times()]).toEqual([2, 4]);
  });

  it('runs after a yes that cannot be stored, and reports why it will be asked again', async () => {
    const path = join(project.folder, 'state', 'trusted.json');
    await project.write('state/trusted.json.lock', 'A file in place of the folder of the lock.');
    let asked = 0;
    const { notices } = await run(trustFile({ path, ask: () => (asked += 1) > 0 }));
    expect([asked, await times()]).toEqual([1, 2]);
    expect(notices).toEqual([expect.stringMatching(/was not stored, so you will be asked again: .*state/)]);
  });

  it('does not run with an invalid trust file, and leaves the file unchanged', async () => {
    const path = join(project.folder, 'trusted.json');
    await writeFile(path, '{"version":2}');
    const { notices } = await run(trustFile({ path, ask: () => true }));
    expect(notices).toContainEqual(expect.stringContaining(`${path} cannot be read. Fix or delete the file.`));
    expect(await times()).toBe(0);
    expect(await readFile(path, 'utf8')).toBe('{"version":2}');
  });
});

describe('a changed script', () => {
  /** Commands that run `scripts/x.sh`. */
  const forms = [
    'scripts/x.sh',
    './scripts/x.sh --fast',
    'sh scripts/x.sh',
    'bash -eu scripts/x.sh',
    'sh -c "scripts/x.sh --fast"',
    `bash -c 'sh -c "scripts/x.sh"'`,
    'cd scripts && ./x.sh',
    '(cd scripts; sh x.sh)',
    'cd nowhere || sh scripts/x.sh',
    '$PWD/scripts/x.sh',
    '"$(pwd)"/scripts/x.sh',
    '"$CLAUDE_PROJECT_DIR"/scripts/x.sh',
    'D=scripts; "$D"/x.sh',
    String.raw`scripts/x\.sh`,
    String.raw`scr\ipts/"x".sh`,
    "$'scripts/\\x78.sh'",
    'scripts/*.sh',
    'scripts/x?sh',
    'sh -e scripts/[x].sh',
    'scripts/{x,y}.sh',
    'for f in scripts/*; do "$f"; done',
    'find scripts -name "*.sh" -exec {} ";"',
    'ls scripts/*.sh | xargs -n1 sh',
    'cat scripts/x.sh | sh',
    'sh < scripts/x.sh',
    'eval "$(cat scripts/x.sh)"',
    '. scripts/x.sh',
    'source ./scripts/x.sh',
    'exec scripts/x.sh',
    'env -C scripts ./x.sh',
    'timeout 5 nice scripts/x.sh',
    'f() { "$1"; }; f scripts/x.sh',
    'PATH=scripts:$PATH x.sh',
    '"$UNSET"scripts/x.sh',
    'node --require=./scripts/x.sh -e 1',
    'node scripts/x',
    `python3 -c 'import os; os.system("scripts/x.sh")'`,
    'make',
    'npm test',
  ];

  it.each(forms)('requires trust again for %j', async (command) => {
    await project.write('scripts/x.sh', 'exit 0\n');
    await project.write('Makefile', 'all:\n\ttrue\n');
    await project.write('package.json', '{"scripts":{"test":"true"}}');
    const questions: TrustQuestion[] = [];
    const trust = trustFile({ path: join(project.folder, 'trusted.json'), ask: (asked) => questions.push(asked) > 0 });
    const definition: CommandDefinition = {
      event: 'PreToolUse',
      matcher: '',
      command,
      source: 'settings.json',
    } as CommandDefinition;
    const context = { signal: new AbortController().signal, notify: () => undefined };
    const request = async () => trust(await trustRequestOf(definition, project.folder), context);
    expect(await request()).toBe(true);
    for (const path of ['scripts/x.sh', 'Makefile', 'package.json']) await project.write(path, '{} # changed');
    expect(await request()).toBe(true);
    expect(questions).toHaveLength(2);
  });

  it.each([
    `jq -r .tool_input.command | grep -q 'rm -rf' && exit 2`,
    'F=$(jq -r .tool_input.file_path); npx prettier --write "$F"',
    'python3 hooks/guard.sh "$SOME_VALUE"',
    `python3 -c 'import json, sys; json.load(sys.stdin)'`,
    'cd "$CLAUDE_PROJECT_DIR" && sh hooks/guard.sh',
    '[ -f package.json ] && echo "$HOME"',
    'python3 -m json.tool',
  ])('requires trust once for the common command %j', async (command) => {
    const { unknown } = await trustRequestOf(
      { event: 'Stop', matcher: '', command } as CommandDefinition,
      project.folder,
    );
    expect(unknown).toEqual([]);
  });
});
