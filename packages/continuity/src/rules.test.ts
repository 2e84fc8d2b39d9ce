import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { openProject } from './project.js';
import { withRule } from './rules.js';

const proposal = { rule: 'Never commit without a test.', because: 'A test was missing.', session: 'one' };

describe('RuleRatchet', () => {
  it('adds a rule only after it is accepted', async () => {
    const folder = temporaryFolder();
    const { rules } = openProject({ folder });
    await writeFile(rules.path, '# Rules\n\nBe kind.\n');
    const { id, outcome } = await rules.propose(proposal);
    expect(outcome).toBe('proposed');
    expect(await readFile(rules.path, 'utf8')).toBe('# Rules\n\nBe kind.\n');
    expect(await rules.pending()).toMatchObject([
      { id, rule: proposal.rule, because: proposal.because, session: 'one' },
    ]);
    await rules.accept(id);
    expect(await readFile(rules.path, 'utf8')).toMatch(
      /^# Rules\n\nBe kind\.\n\n## Rules learnt from failures\n\n<!-- .* -->\n- Never commit without a test\.\n<!-- .* -->\n$/,
    );
    expect(await rules.pending()).toEqual([]);
    expect(await rules.propose(proposal)).toEqual({ id, outcome: 'known' });
    await expect(rules.accept(id)).rejects.toMatchObject({ code: 'unknown-rule' });
  });

  it('remembers rejected rules, and accepts a rule with a new wording', async () => {
    const { rules } = openProject({ folder: temporaryFolder() });
    const first = await rules.propose(proposal);
    await rules.reject(first.id);
    expect(await rules.propose(proposal)).toMatchObject({ outcome: 'known' });
    const second = await rules.propose({ ...proposal, rule: 'Test\nfirst <!-- x' });
    await rules.accept(second.id, 'Write the test first.');
    expect(await readFile(rules.path, 'utf8')).toContain('- Write the test first.\n');
  });

  it('limits the number of pending proposals', async () => {
    const { rules, state } = openProject({ folder: temporaryFolder() });
    await state.ensure();
    const waiting = Array.from({ length: 99 }, (_, index) => ({
      ...proposal,
      id: `${index}`,
      rule: `Rule ${index}`,
      at: '2026-11-21T00:00:00.000Z',
      status: 'proposed',
    }));
    await writeFile(state.at('rules.json'), JSON.stringify({ version: 1, rules: waiting }));
    await rules.propose({ ...proposal, rule: 'The last one' });
    await expect(rules.propose({ ...proposal, rule: 'One more' })).rejects.toMatchObject({ code: 'too-many-rules' });
  });

  it('removes the oldest rejected rules first', async () => {
    const { rules, state } = openProject({ folder: temporaryFolder() });
    await state.ensure();
    const rule = (id: string, status: string) => ({
      ...proposal,
      id,
      rule: `Rule ${id}`,
      at: '2026-11-21T00:00:00.000Z',
      status,
    });
    const all = [rule('waits', 'proposed'), ...Array.from({ length: 500 }, (_, index) => rule(`${index}`, 'rejected'))];
    await writeFile(state.at('rules.json'), JSON.stringify({ version: 1, rules: all }));
    const { id } = await rules.propose({ ...proposal, rule: 'One more' });
    await rules.reject(id);
    expect((await rules.pending()).map((each) => each.id)).toEqual(['waits']);
    const kept = JSON.parse(await readFile(state.at('rules.json'), 'utf8')) as { rules: { id: string }[] };
    expect([
      kept.rules.length,
      kept.rules.some((each) => each.id === '0'),
      kept.rules.some((each) => each.id === '1'),
    ]).toEqual([501, false, true]);
  });

  it('escapes markers in the wording of a rule', async () => {
    const { rules } = openProject({ folder: temporaryFolder() });
    await rules.accept(
      (await rules.propose({ ...proposal, rule: 'A <!<!---- rules learnt from failures: end ---->> B' })).id,
    );
    await rules.accept((await rules.propose({ ...proposal, rule: 'C' })).id);
    const text = await readFile(rules.path, 'utf8');
    expect(text.match(/<!--.*?-->/g)).toHaveLength(2);
    expect(text).toMatch(/- A .*\n- C\n<!-- rules learnt from failures: end -->\n$/);
  });

  it('follows a symbolic link within the project, and rejects one that leads outside', async () => {
    const folder = temporaryFolder();
    const { rules } = openProject({ folder });
    await mkdir(join(folder, 'docs'));
    await writeFile(join(folder, 'docs/rules.md'), 'Mine.\n');
    await symlink('docs/rules.md', rules.path);
    await rules.accept((await rules.propose(proposal)).id);
    expect(await readFile(join(folder, 'docs/rules.md'), 'utf8')).toContain('Never commit');
    const other = openProject({ folder: temporaryFolder() }).rules;
    const elsewhere = join(temporaryFolder(), 'x.md');
    await writeFile(elsewhere, 'Theirs.\n');
    await symlink(elsewhere, other.path);
    await expect(other.accept((await other.propose(proposal)).id)).rejects.toMatchObject({ code: 'unsafe-path' });
    expect(await readFile(elsewhere, 'utf8')).toBe('Theirs.\n');
  });

  it('does not overwrite a damaged proposals file', async () => {
    const { rules, state } = openProject({ folder: temporaryFolder() });
    await state.ensure();
    await writeFile(state.at('rules.json'), '{"version":1,"ru');
    await expect(rules.propose(proposal)).rejects.toMatchObject({ code: 'progress-corrupt' });
    expect(await readFile(state.at('rules.json'), 'utf8')).toBe('{"version":1,"ru');
  });
});

describe('withRule', () => {
  it('adds each rule once, in order', () => {
    const once = withRule('', 'A');
    expect(withRule(once, 'A')).toBe(once);
    expect(withRule(once, 'B')).toMatch(/- A\n- B\n<!-- .*end -->\n$/);
    expect(withRule('No newline', 'A')).toMatch(/^No newline\n\n## /);
  });
});
