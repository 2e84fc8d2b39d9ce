import { utimesSync } from 'node:fs';
import { basename } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hostile, lifelike, skillMd, tree, type Tree } from '../test/skills-tree.js';
import { standardSkillFolders } from './folders.js';
import { skillLibrary, type SkillLibraryOptions } from './library.js';

let disk: Tree | undefined;
afterEach(() => {
  disk?.remove();
});

const libraryOf = (made: Tree, options: Partial<SkillLibraryOptions> = {}) => {
  disk = made;
  return skillLibrary({
    folders: [{ path: made.path('.claude/skills'), trusted: true }],
    platform: 'linux',
    home: made.root,
    ...options,
  });
};

describe('skillLibrary, with a typical skills folder', () => {
  it('lists usable skills by name', async () => {
    const { skills } = await libraryOf(lifelike()).list();
    expect(skills.map(({ name }) => name)).toEqual([
      'background',
      'colon',
      'deploy',
      'fetch',
      'git-rebase',
      'lowercase',
      'old-name',
      'pdf',
      'shared',
    ]);
    expect(skills.find(({ name }) => name === 'pdf')).toMatchObject({
      description: 'Fills, merges and splits PDF files. Use when a PDF is mentioned.',
      forModel: true,
      forUser: true,
      trusted: true,
      env: {},
    });
  });

  it('reports rejected and repaired skills', async () => {
    const { problems } = await libraryOf(lifelike()).list();
    const told = problems.map(({ code, path }) => [code, path?.replace(`${disk?.root}/.claude/skills/`, '')]);
    expect(told).toEqual([
      ['invalid-name', 'My Skill/SKILL.md'],
      ['unreadable', 'binary/SKILL.md'],
      ['repaired', 'colon/SKILL.md'],
      ['repaired', 'deploy/SKILL.md'],
      ['no-frontmatter', 'empty/SKILL.md'],
      ['unreadable', 'huge/SKILL.md'],
      ['no-frontmatter', 'lower/SKILL.md'],
      ['no-description', 'no-description/SKILL.md'],
      ['no-frontmatter', 'no-frontmatter/SKILL.md'],
      ['name-mismatch', 'renamed/SKILL.md'],
      ['invalid-frontmatter', 'unclosed/SKILL.md'],
    ]);
  });

  it('reads CRLF, a byte order mark, folded text and invalid YAML', async () => {
    const { skills } = await libraryOf(lifelike()).list();
    const descriptions = Object.fromEntries(skills.map(({ name, description }) => [name, description]));
    expect(descriptions).toMatchObject({
      'git-rebase': 'Rebases a branch, step by step.',
      deploy: 'Deploys to production. Use when: the user says "ship it"',
      colon: 'Use when: a colon comes and the text continues here',
    });
  });

  it('reads which skills are hidden from the model or from users', async () => {
    const { skills } = await libraryOf(lifelike()).list();
    expect(skills.filter(({ forModel }) => !forModel).map(({ name }) => name)).toEqual(['deploy']);
    expect(skills.filter(({ forUser }) => !forUser).map(({ name }) => name)).toEqual(['background']);
  });

  it('lists only skills of the platform', async () => {
    const { skills } = await libraryOf(lifelike(), { platform: 'darwin' }).list();
    expect(skills.map(({ name }) => name)).toContain('mac-notes');
  });
});

describe('skillLibrary, on hostile frontmatter', () => {
  it.each(Object.keys(hostile))('survives %s', async (name) => {
    const made = tree();
    made.write(`.claude/skills/${name}/SKILL.md`, skillMd(hostile[name] ?? ''));
    const { skills, problems } = await libraryOf(made).list();
    expect(skills.length + problems.length).toBeGreaterThan(0);
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
    for (const { description } of skills) {
      expect(description.length).toBeLessThanOrEqual(1024);
      expect(description).not.toMatch(/[\n\u202E\u{E0041}]/u);
    }
  });
});

describe('skillLibrary', () => {
  it('keeps the first of two skills with the same name and reports the other', async () => {
    const made = tree();
    const first = made.write('user/git/SKILL.md', skillMd('name: git\ndescription: Mine.'));
    const second = made.write('project/git/SKILL.md', skillMd('name: git\ndescription: Theirs.'));
    const { skills, problems } = await libraryOf(made, { folders: [made.path('user'), made.path('project')] }).list();
    expect(skills.map(({ description }) => description)).toEqual(['Mine.']);
    expect(problems).toMatchObject([
      { code: 'collision', path: second, message: expect.stringContaining(first) as string },
    ]);
  });

  it('lists a skill once if a link also leads to it', async () => {
    const made = lifelike();
    const folders = standardSkillFolders({ home: made.root });
    const { skills, problems } = await libraryOf(made, { folders }).list();
    expect(skills.filter(({ name }) => name === 'shared')).toHaveLength(1);
    expect(problems.filter(({ code }) => code === 'collision')).toEqual([]);
  });

  it('follows links out of trusted folders only', async () => {
    const made = tree();
    made.write('elsewhere/x/SKILL.md', skillMd('name: x\ndescription: Elsewhere.'));
    made.link('work/.claude/skills/x', '../../../elsewhere/x');
    made.write('work/.claude/skills/y/notes.md', '');
    made.link('work/.claude/skills/y/SKILL.md', '../../../../elsewhere/x/SKILL.md');
    made.write('work/shared/z/SKILL.md', skillMd('name: z\ndescription: Inside the project.'));
    made.link('work/.claude/skills/z', '../../shared/z');
    const project = standardSkillFolders({ workspace: made.path('work') });
    const { skills, problems } = await libraryOf(made, { folders: project }).list();
    expect(skills.map(({ name, trusted }) => [name, trusted])).toEqual([['z', false]]);
    expect(problems.map(({ code }) => code)).toEqual(['outside', 'outside']);
    const trusting = await libraryOf(made, {
      folders: [{ path: made.path('work/.claude/skills'), trusted: true }],
    }).list();
    expect(trusting.skills.map(({ name }) => name)).toEqual(['x', 'z']);
    const alone = await libraryOf(made, { folders: [made.path('work/.claude/skills')] }).list();
    expect(alone.skills).toEqual([]);
  });

  it('accepts a folder that is a skill and ignores missing folders', async () => {
    const made = tree();
    made.write('pdf/SKILL.md', skillMd('name: pdf\ndescription: PDF.'));
    const { skills, problems } = await libraryOf(made, { folders: ['~/pdf', '~/missing'] }).list();
    expect([skills.map(({ name }) => name), problems]).toEqual([['pdf'], []]);
  });

  it.skipIf(process.platform === 'win32')('reports a folder that cannot be read', async () => {
    const made = tree();
    made.write('pdf/SKILL.md', skillMd('name: pdf\ndescription: PDF.'));
    const loops = ['loop', 'all/loop', 'all/x/SKILL.md'];
    for (const loop of loops) made.link(loop, basename(loop));
    const { skills, problems } = await libraryOf(made, { folders: ['~/pdf', '~/loop', '~/all'] }).list();
    expect(skills.map(({ name }) => name)).toEqual(['pdf']);
    expect(problems).toEqual(
      loops.map((loop) => ({ code: 'unreadable', message: 'The path cannot be read (ELOOP).', path: made.path(loop) })),
    );
  });

  it.skipIf(process.platform !== 'linux')('reports a file whose bytes the disk cannot read', async () => {
    const made = tree();
    made.write('.claude/skills/pdf/SKILL.md', skillMd('name: pdf\ndescription: PDF.'));
    made.write('.claude/skills/broken/x', '');
    made.link('.claude/skills/broken/SKILL.md', '/proc/self/mem');
    const { skills, problems } = await libraryOf(made).list();
    expect(skills.map(({ name }) => name)).toEqual(['pdf']);
    expect(problems).toMatchObject([{ code: 'unreadable', message: expect.stringContaining('EIO') as string }]);
  });

  it('applies `include` and `maxSkills`', async () => {
    const made = tree();
    for (const name of ['a', 'b', 'c', 'd']) {
      made.write(`.claude/skills/${name}/SKILL.md`, skillMd(`name: ${name}\ndescription: D`));
    }
    const { skills, problems } = await libraryOf(made, { include: ({ name }) => name !== 'a', maxSkills: 2 }).list();
    expect(skills.map(({ name }) => name)).toEqual(['b', 'c']);
    expect(problems).toMatchObject([{ code: 'too-many' }]);
  });

  it('limits the number of visited folders', async () => {
    const made = tree();
    made.write('.claude/skills/1/2/3/4/SKILL.md', skillMd('name: deep\ndescription: D'));
    made.write('.claude/skills/1/2/3/x/5/SKILL.md', skillMd('name: too-deep\ndescription: D'));
    expect((await libraryOf(made).list()).skills.map(({ name }) => name)).toEqual(['deep']);
  });

  it('rereads a file only after a change', async () => {
    const made = tree();
    const file = made.write('.claude/skills/a/SKILL.md', skillMd('name: a\ndescription: One.'));
    const scan = vi.fn(() => ({ verdict: 'clean' as const }));
    const library = libraryOf(made, { scan });
    await library.list();
    await library.list();
    expect(scan).toHaveBeenCalledTimes(1);
    made.write('.claude/skills/a/SKILL.md', skillMd('name: a\ndescription: Two.'));
    utimesSync(file, 1, 1);
    expect((await library.list()).skills[0]?.description).toBe('Two.');
  });

  it('reads hundreds of skills with bounded concurrency', async () => {
    const made = tree();
    for (let index = 0; index < 300; index += 1) {
      made.write(`.claude/skills/s${index}/SKILL.md`, skillMd(`name: s${index}\ndescription: D`));
    }
    expect((await libraryOf(made).list()).skills).toHaveLength(300);
  });
});

describe('skillLibrary, with a scanner', () => {
  const one = (): Tree => {
    const made = tree();
    made.write('.claude/skills/a/SKILL.md', skillMd('name: a\ndescription: Sends the keys.'));
    return made;
  };

  it.each<[string, NonNullable<SkillLibraryOptions['scan']>]>([
    ['finds malicious', (text) => ({ verdict: 'malicious', text })],
    ['has no known verdict on', () => ({ verdict: 'fine' as 'clean' })],
    [
      'fails on',
      () => {
        throw new Error('No rules.');
      },
    ],
    ['says nothing about', () => undefined as never],
  ])('leaves out a skill that it %s', async (_, scan) => {
    const { skills, problems } = await libraryOf(one(), { scan }).list();
    expect(skills).toEqual([]);
    expect(problems).toMatchObject([{ code: 'withheld' }]);
  });

  it('uses the cleaned text and reports suspicious files', async () => {
    const cleaned = await libraryOf(one(), {
      scan: (text) => ({ verdict: 'malicious', text: text.replace('Sends the keys', 'Sends mail') }),
    }).list();
    expect(cleaned.skills.map(({ description }) => description)).toEqual(['Sends mail.']);
    disk?.remove();
    const suspicious = await libraryOf(one(), {
      scan: async () => Promise.resolve({ verdict: 'suspicious' as const }),
    }).list();
    expect(suspicious.skills).toHaveLength(1);
    expect(suspicious.problems).toMatchObject([{ code: 'suspicious' }]);
  });
});

describe('skillLibrary, with wrong options', () => {
  it.each<[string, SkillLibraryOptions]>([
    ['folders', {} as SkillLibraryOptions],
    ['folders[0]', { folders: [''] }],
    ['folders[0].path', { folders: [{ path: '' }] }],
    ['folders[0].trusted', { folders: [{ path: 'x', trusted: 'yes' as never }] }],
    ['folders[0].within', { folders: [{ path: 'x', within: 7 as never }] }],
    ['folders[0].trust', { folders: [{ path: 'x', trust: true } as never] }],
    ['platform', { folders: [], platform: 7 as never }],
    ['include', { folders: [], include: true as never }],
    ['scan', { folders: [], scan: true as never }],
    ['maxSkills', { folders: [], maxSkills: 0 }],
    ['home', { folders: [], home: 7 as never }],
    ['root', { folders: [], root: '/' } as never],
  ])('refuses a wrong %s and names it', (name, options) => {
    expect(() => skillLibrary(options)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining(`"${name}"`) as string }),
    );
  });
});
