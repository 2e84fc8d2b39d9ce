import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFrontmatter } from './frontmatter.js';
import { readSkill, type ReadSkill } from './skill.js';

const fieldsOf = (text: string): Record<string, unknown> | undefined => {
  const parsed = parseFrontmatter(text);
  return parsed && Object.fromEntries(parsed.fields);
};

describe('parseFrontmatter', () => {
  it('splits a file into fields and body', () => {
    expect(parseFrontmatter('---\nname: a\n---\n\n# Body\n\n---\nMore\n')).toEqual({
      fields: new Map([['name', 'a']]),
      body: '# Body\n\n---\nMore',
      isRepaired: false,
    });
    expect(parseFrontmatter('--- \nname: a\n...\nBody')?.body).toBe('Body');
  });

  it.each([
    '',
    'name: a',
    '# Title\n---\nname: a\n---',
    '---\nname: a',
    '--- name: a\n---',
    ' ---\nname: a\n---',
    `---\n${'x'.repeat(20_000)}\n---`,
    '---\n---\n',
    '---\njust text\n---',
  ])('finds none in %j', (text) => {
    expect(parseFrontmatter(text)).toBeUndefined();
  });

  it('parses invalid YAML line by line', () => {
    const text =
      '---\nname: "a"\ndescription: Use when: x\n  and y\n# a comment\n  ignored\nname: second\nlist:\n- x\nempty:\n---\n';
    expect(parseFrontmatter(text)?.isRepaired).toBe(true);
    expect(fieldsOf(text)).toEqual({ name: 'a', description: 'Use when: x and y', list: '', empty: '' });
  });

  it('parses folded and literal text line by line', () => {
    expect(fieldsOf('---\ndescription: >-\n  One\n  two\nbad: a: b\n---\n')).toMatchObject({ description: 'One two' });
  });

  it('rejects aliases', () => {
    expect(parseFrontmatter('---\nname: &x a\ndescription: *x\n---\n')?.isRepaired).toBe(true);
  });

  it('never throws', () => {
    const pieces = fc.constantFrom(
      '---\n',
      '\n',
      'name: x',
      'a: [',
      '{',
      '&a',
      '*a',
      '!!map',
      '"',
      "'",
      '|',
      '>',
      '  ',
      '\t',
      '- ',
      ': ',
      '%YAML 1.2',
      '\uFEFF',
      '...',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        parseFrontmatter(`---\n${parts.join('')}\n---\nBody`);
      }),
    );
  });
});

const place = { folder: '/skills/a', file: '/skills/a/SKILL.md', folderName: 'a', trusted: false };
const read = (frontmatter: string, folderName = 'a'): ReadSkill =>
  readSkill(`---\n${frontmatter}\n---\nBody`, { ...place, folderName });

describe('readSkill', () => {
  it('uses the folder name if the name is missing', () => {
    expect(read('description: D').skill).toMatchObject({ name: 'a' });
  });

  it.each(['Upper', 'two--hyphens', '-a', 'a-', 'a_b', 'a b', 'a'.repeat(65), '../a', ''])(
    'does not use the name %j',
    (name) => {
      const { skill, problems } = read(`name: "${name}"\ndescription: D`, 'folder');
      expect(skill?.name).toBe('folder');
      expect(problems).toMatchObject([{ code: 'name-mismatch' }]);
      expect(read(`name: "${name}"\ndescription: D`, 'No Folder').problems).toMatchObject([{ code: 'invalid-name' }]);
    },
  );

  it.each([
    ['disable-model-invocation: true', { forModel: false, forUser: true }],
    ['disable-model-invocation: "yes"', { forModel: false, forUser: true }],
    ['disable-model-invocation: maybe', { forModel: true, forUser: true }],
    ['user-invocable: false', { forModel: true, forUser: false }],
    ['user-invocable: "no"', { forModel: true, forUser: false }],
    ['user-invocable: 7', { forModel: true, forUser: true }],
  ])('reads %s', (line, expected) => {
    expect(read(`description: D\n${line}`).skill).toMatchObject(expected);
  });

  it.each([
    ['platforms: [macos, linux]', ['darwin', 'linux']],
    ['platforms: "macOS, Windows"', ['darwin', 'win32']],
    ['platforms: [win, 7, ""]', ['win32']],
    ['os: linux', ['linux']],
    ['platforms: []', []],
    ['platforms: { a: b }', undefined],
  ])('reads %s', (line, expected) => {
    expect(read(`description: D\n${line}`).skill?.platforms).toEqual(expected);
  });

  it('reads string variables from `env` and `envVars`', () => {
    expect(read('description: D\nenv:\n  GH_PATH: ~/bin/gh\n  N: 7\n').skill?.env).toEqual({ GH_PATH: '~/bin/gh' });
    expect(read('description: D\nenvVars: { A: /a }').skill?.env).toEqual({ A: '/a' });
    expect(read('description: D\nenv: [A]').skill?.env).toEqual({});
  });

  it('accepts numbers as text and truncates long descriptions', () => {
    expect(read('name: 2048\ndescription: 7', '2048').skill).toMatchObject({ name: '2048', description: '7' });
    expect(read(`description: ${'d'.repeat(2000)}`).skill?.description).toHaveLength(1024);
  });
});
