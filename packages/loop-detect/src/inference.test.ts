import { describe, expect, it } from 'vitest';
import { writes } from './reading/effect.js';
import { isKnownPoll, type LoopCall } from './reading/call.js';
import { shellLineOf } from './reading/shell.js';

const run = (command: string, effect?: LoopCall['effect']): LoopCall => ({
  id: '1',
  name: 'bash',
  input: { command },
  effect,
});
const tool = (name: string, input: unknown = {}, effect?: LoopCall['effect']): LoopCall => ({
  id: '1',
  name,
  input,
  effect,
});

describe('writes', () => {
  it.each([
    'rm -rf dist',
    'mkdir -p a/b',
    'sed -i s/a/b/ x',
    "sed -i 's/a/b/' x && make",
    'echo hi > out.txt',
    'cat >> a.md <<EOF\nx\nEOF',
    'git commit -am x',
    'git -C sub checkout main',
    'npm install',
    'pnpm add zod',
    'cd app && cp a b',
    'sudo apt-get install jq',
    'FOO=1 touch x',
    'printf x | tee y',
    'docker compose up -d',
    'kubectl apply -f x.yaml',
    'timeout 60 mv a b',
    "bash -lc 'apply_patch <<EOF'",
    '/bin/rm x',
    'curl -X POST http://localhost/api',
    'gh pr create --fill',
    'pnpm up zod --latest',
    'apt-get dist-upgrade -y',
    'cargo fix --allow-dirty',
  ])('treats %s as a change', (command) => {
    expect(writes(run(command, 'destructive'))).toBe(true);
  });

  it.each([
    'ls -la',
    'cat a.txt | head',
    'git status',
    'git log --oneline',
    'git diff > /dev/null',
    'npm test 2>&1 | tail -20',
    'make -j4',
    'grep -rn "rm -rf" src',
    'sed -n 1,20p x',
    'find . -name "*.ts"',
    'echo done',
    'npx vitest run 2>/dev/null',
    'python -c "print(1)"',
    'npm run build',
    'kubectl get pods',
    'curl -s localhost:3000',
    '',
  ])('treats %s as read-only, regardless of the declared effect of the shell', (command) => {
    expect(writes(run(command, 'destructive'))).toBe(false);
  });

  it('uses the declared effect of other tools', () => {
    expect([
      writes(tool('edit', {}, 'read-only')),
      writes(tool('look', {}, 'local-write')),
      writes(tool('look', {}, 'destructive')),
    ]).toEqual([false, true, true]);
  });

  it.each([
    'write_file',
    'Edit',
    'MultiEdit',
    'create_issue',
    'mcp__github__mergePullRequest',
    'apply_patch',
    'sendMessage',
    'deleteRow',
  ])('infers from the name that %s writes', (name) => {
    expect(writes(tool(name))).toBe(true);
  });

  it.each([
    'read',
    'Grep',
    'list_issues',
    'getUser',
    'web_fetch',
    'TodoWrite',
    'update_plan',
    'settings_view',
    'python',
  ])('infers from the name that %s reads', (name) => {
    expect(writes(tool(name))).toBe(false);
  });

  it('uses the action of tools with several actions', () => {
    const editor = (command: string): boolean => writes(tool('str_replace_editor', { command, path: 'a' }));
    expect([
      editor('view'),
      editor('str_replace'),
      editor('create'),
      writes(tool('issues', { action: 'create' })),
      writes(tool('issues', { action: 'list' })),
    ]).toEqual([false, true, true, true, false]);
  });

  it.each([
    ['update products set price = 12 where id = 7', true],
    ['INSERT INTO orders (id, total) VALUES (1, 20)', true],
    ['insert or replace into cache values (1)', true],
    ['delete from sessions where age > 90', true],
    ['delete from sessions', true],
    ['merge into stock s using arrivals a on s.id = a.id', true],
    ['create unique index concurrently orders_id on orders (id)', true],
    ['create table t as select 1', true],
    ['alter table t add column n int', true],
    ['mutation { addUser(name: "a") { id } }', true],
    ['select * from products', false],
    ['create table in postgres', false],
    ['update react to version 20', false],
    ['delete from git history', false],
    ['insert into array python', false],
  ])('reads from the statement of a call whether it writes: %s', (query, isWriting) => {
    expect(writes(tool('query', { query }))).toBe(isWriting);
    expect(writes(tool('run_sql', { sql: query }))).toBe(isWriting);
  });
});

describe('isKnownPoll', () => {
  it.each([
    'sleep 30',
    'sleep 5 && gh run view 1',
    'gh pr checks 12',
    'gh run list --limit 1',
    'kubectl get pods',
    'docker logs web',
    'tail -n 50 build.log',
    'ps aux | grep node',
    'curl -s http://localhost:3000/health',
    'systemctl status nginx',
    'cd app; sleep 1',
    'aws cloudformation describe-stacks',
    'pg_isready -h localhost',
    'docker compose ps',
    'redis-cli llen jobs',
    'curl -s -o /dev/null -w "%{http_code}" http://localhost:3000',
    '',
  ])('knows %s', (command) => {
    expect(isKnownPoll(run(command))).toBe(true);
  });

  it.each([
    'npm test 2>&1 | tail -30',
    'gh pr create',
    'kubectl apply -f x',
    'ls',
    'git status',
    'curl -X POST localhost',
    'curl -o page.html localhost',
    'redis-cli set a 1',
    'docker build .',
    'sleep 1; rm x',
  ])('does not treat %s as polling', (command) => {
    expect(isKnownPoll(run(command))).toBe(false);
  });

  it.each([
    ['command_status', {}],
    ['check_status', { id: 1 }],
    ['getStatus', {}],
    ['BashOutput', { bash_id: '1' }],
    ['process', { action: 'poll' }],
    ['process', { action: 'log' }],
    ['write_stdin', { session_id: 1, chars: '' }],
    ['wait_for', {}],
    ['scroll_down', {}],
    ['browser_click', { selector: '#next' }],
  ])('treats the tool %s with %o as polling', (name, input) => {
    expect(isKnownPoll(tool(name, input))).toBe(true);
  });

  it.each([
    ['git_status', {}],
    ['process', { action: 'kill' }],
    ['write_stdin', { chars: 'y\n' }],
    ['read', {}],
    ['checkout', {}],
  ])('does not treat the tool %s with %o as polling', (name, input) => {
    expect(isKnownPoll(tool(name, input))).toBe(false);
  });
});

describe('shellLineOf', () => {
  it.each([
    ['bash', { command: 'ls' }, 'ls'],
    ['shell', { command: ['bash', '-lc', 'ls'] }, 'bash -lc ls'],
    ['exec_command', { cmd: 'ls' }, 'ls'],
    ['anything', { command: 'ls -la' }, 'ls -la'],
    ['str_replace_editor', { command: 'view' }, undefined],
    ['read', { path: 'a' }, undefined],
    ['bash', 'ls', undefined],
    ['bash', null, undefined],
  ])('extracts the shell command of %s with %o', (name, input, line) => {
    expect(shellLineOf(name, input)).toBe(line);
  });
});
