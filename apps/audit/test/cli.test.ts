import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileSessions } from '@h/session';
import { harness, reply } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../src/cli.js';
import { claudeCode } from './transcripts.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'h-audit-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const collect = () => {
  const chunks: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      chunks.push(chunk.toString());
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
};

const audit = async (...argv: readonly string[]) => {
  const stdout = collect();
  const stderr = collect();
  const process = {
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { CLAUDE_CONFIG_DIR: folder, CODEX_HOME: folder },
    once: () => undefined,
  };
  const code = await run(argv, process);
  return { code, out: stdout.text(), errors: stderr.text() };
};

const transcript = claudeCode([
  { name: 'Bash', input: { command: 'rm -rf /' }, result: 'no' },
  { name: 'Bash', input: { command: 'echo "<script>alert(1)</script>" && rm -rf ~' }, result: 'no' },
]);

describe('h-audit', () => {
  it('prints a report without colors where there is no terminal', async () => {
    await writeFile(join(folder, 'a.jsonl'), transcript);
    const { code, out, errors } = await audit(folder);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(out).toContain('1 session, 2 model calls');
    expect(out).toMatch(/@h\/hooks +denies 2 destructive commands/);
    expect(out).not.toContain('\u001B[');
  });

  it('prints no characters that control the terminal', async () => {
    const command = 'rm -rf / \u001B]0;owned\u0007\u202E';
    await writeFile(join(folder, 'a.jsonl'), claudeCode([{ name: '\u001B[2JBash', input: { command }, result: 'no' }]));
    const { out } = await audit(folder);
    expect(out).toContain('rm -rf / \uFFFD]0;owned');
    expect(out).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
  });

  it('shows the cost of calls without a known price as unknown, and that of both kinds as a minimum', async () => {
    await writeFile(join(folder, 'a.jsonl'), transcript.replace('claude-sonnet-4-5', 'own-model'));
    await writeFile(join(folder, 'b.jsonl'), claudeCode([{ name: '', input: {} }], { session: 'two' }));
    const { out } = await audit(folder, '--html', join(folder, 'report.html'));
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    expect(out).toMatch(/own-model.*unknown cost/);
    expect(out).toMatch(/a\.jsonl.*at least \$0\.\d{4}/);
    expect(html).toMatch(/own-model · 1,050 tokens, unknown cost/);
    expect(html).toMatch(/2026-11-02 · at least \$0\.\d{4}, 3 calls/);
    for (const report of [out, html]) expect(report).toContain('(no name)');
    expect(`${out}${html}`).not.toContain('$0.00<');
  });

  it('prints all sessions as JSON', async () => {
    await writeFile(join(folder, 'a.jsonl'), transcript);
    const { out } = await audit('--json', join(folder, 'a.jsonl'));
    expect(JSON.parse(out)).toMatchObject({ totals: { sessions: 1 }, sessions: [{ format: 'claude-code' }] });
  });

  it('writes a page that loads nothing and escapes what transcripts contain', async () => {
    await writeFile(join(folder, 'a.jsonl'), transcript);
    const page = join(folder, 'report.html');
    await audit(folder, '--html', page);
    const html = await readFile(page, 'utf8');
    expect(html).toContain('&#60;script&#62;alert');
    expect(html).not.toMatch(/<script|(?:src|href)=|@import|url\(/);
  });

  it('names skipped files and exits with 1', async () => {
    await writeFile(join(folder, 'a.jsonl'), transcript);
    await writeFile(join(folder, 'broken.json'), '{');
    const { code, out } = await audit(folder);
    expect(code).toBe(1);
    expect(out).toContain(`Skipped ${join(folder, 'broken.json')}: The file contains no JSON object.`);
  });

  it('does not report that nothing was found if no session was read', async () => {
    await writeFile(join(folder, 'broken.json'), '{');
    const { code, out } = await audit(folder);
    expect(code).toBe(1);
    expect(out).toContain('nothing: no session was read');
  });

  it('reads nothing if the page cannot be written where it belongs, and says what to do', async () => {
    await writeFile(join(folder, 'a.jsonl'), transcript);
    const missing = join(folder, 'missing');
    expect(await audit(folder, '--html', join(missing, 'report.html'))).toMatchObject({
      code: 2,
      out: '',
      errors: `--html: the folder ${missing} does not exist. Create it, or name another file.\n`,
    });
    expect(await audit(folder, '--html', folder)).toMatchObject({
      code: 2,
      errors: `--html: ${folder} is a folder. Name a file, such as ${join(folder, 'audit.html')}.\n`,
    });
  });

  it('prints the report and exits with 1 if the page cannot be written', async () => {
    await writeFile(join(folder, 'a.jsonl'), transcript);
    const { code, out, errors } = await audit(folder, '--html', join(folder, `${'r'.repeat(300)}.html`));
    expect(code).toBe(1);
    expect(out).toContain('a.jsonl');
    expect(errors).toMatch(/^--html: the report could not be written: ENAMETOOLONG/);
  });

  it.each([
    ['ENOSPC', 1, 'The report could not be printed: write ENOSPC\n'],
    ['EPIPE', 141, ''],
  ])('exits without a stack trace if the output fails with %s', async (reason, code, errors) => {
    await writeFile(join(folder, 'a.jsonl'), transcript);
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${reason}`), { code: reason })),
    });
    const stderr = collect();
    const process = { stdout, stderr: stderr.stream, env: {}, once: () => undefined };
    expect({ code: await run([folder], process), errors: stderr.text() }).toEqual({ code, errors });
  });

  it('skips links in a circle and names them', async () => {
    const inner = join(folder, 'inner');
    await mkdir(inner);
    for (const place of [folder, inner]) {
      await symlink('b.jsonl', join(place, 'b.jsonl'));
      await writeFile(join(place, 'c.jsonl'), transcript);
    }
    const { code, out } = await audit('--json', folder);
    const { totals, sessions } = JSON.parse(out) as {
      readonly totals: { readonly skipped: unknown };
      readonly sessions: unknown;
    };
    expect(code).toBe(1);
    expect(sessions).toHaveLength(2);
    expect(totals.skipped).toMatchObject([
      { path: join(folder, 'b.jsonl'), reason: expect.stringContaining('ELOOP') as string },
      { path: join(inner, 'b.jsonl'), reason: expect.stringContaining('ELOOP') as string },
    ]);
  });

  it.each([
    [['--unknown'], 2, "unknown option '--unknown'\nSee --help."],
    [['/does/not/exist'], 2, '/does/not/exist does not exist.'],
    [[], 1, 'No transcripts were found.'],
  ])('exits for %j with %i', async (argv, code, message) => {
    const result = await audit(...argv);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.errors).toContain(message);
  });

  it('reads the sessions of h', async () => {
    const sessions = fileSessions({ directory: folder });
    const model = scriptedModel([response(call('1', 'bash', { command: 'git push --force' })), 'Done.']);
    const agent = harness({ model, tools: scriptedTools({ bash: 'ok' }), sessions }).pipe();
    await reply(agent.turn({ session: 'alice', input: 'Push.' }));
    const { code, out } = await audit('--json', folder);
    expect(code).toBe(0);
    const { sessions: reports } = JSON.parse(out) as { readonly sessions: unknown };
    expect(reports).toMatchObject([
      {
        spending: { requests: 2 },
        commands: { count: 1, denied: { count: 1 } },
        results: { openCalls: 0, orphanResults: 0 },
      },
    ]);
  });
});
