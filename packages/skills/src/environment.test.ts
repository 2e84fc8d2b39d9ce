import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tree, type Tree } from '../test/skills-tree.js';
import { skillEnvironment, type SkillEnvironmentOptions } from './environment.js';
import type { Skill } from './skill.js';

let disk: Tree;
beforeEach(() => {
  disk = tree();
  disk.write('home/bin/gh', '');
  disk.write('skills/gh/bin/helper', '');
});
afterEach(() => {
  disk.remove();
});

const skill = (env: Readonly<Record<string, string>>, more: Partial<Skill> = {}): Skill => ({
  name: 'gh',
  description: 'D',
  folder: disk.path('skills/gh'),
  file: disk.path('skills/gh/SKILL.md'),
  trusted: true,
  forModel: true,
  forUser: true,
  env,
  ...more,
});

const environment = async (skills: readonly Skill[], options: Partial<SkillEnvironmentOptions> = {}) =>
  skillEnvironment(skills, { allow: ['*'], home: disk.path('home'), platform: 'linux', ...options });

describe('skillEnvironment', () => {
  it('accepts existing paths: absolute, below home or below the skill', async () => {
    const { env, problems } = await environment([
      skill({ GH_PATH: '~/bin/gh', HELPER: './bin/helper', ROOT: disk.root }),
    ]);
    expect(env).toEqual({
      GH_PATH: disk.path('home/bin/gh'),
      HELPER: disk.path('skills/gh/bin/helper'),
      ROOT: disk.root,
    });
    expect(problems).toEqual([]);
  });

  it('sets only allowed variables', async () => {
    const env = { GH_PATH: '~/bin/gh', KUBE_ONE: '~/bin/gh', OTHER: '~/bin/gh' };
    expect((await environment([skill(env)], { allow: ['GH_PATH', 'KUBE_*'] })).env).toEqual({
      GH_PATH: disk.path('home/bin/gh'),
      KUBE_ONE: disk.path('home/bin/gh'),
    });
    const none = await environment([skill(env)], { allow: [] });
    expect(none.env).toEqual({});
    expect(none.problems.map(({ code }) => code)).toEqual(['not-allowed', 'not-allowed', 'not-allowed']);
    expect((await environment([skill({ gh_path: '~/bin/gh' })], { allow: ['GH_PATH'] })).env).toEqual({});
  });

  it.each([
    'PATH',
    'Path',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'DYLD_INSERT_LIBRARIES',
    'NODE_OPTIONS',
    'NODE_PATH',
    'GIT_SSH_COMMAND',
    'GIT_DIR',
    'BASH_ENV',
    'ENV',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PERL5OPT',
    'RUBYOPT',
    '_JAVA_OPTIONS',
    'JAVA_TOOL_OPTIONS',
    'HOME',
    'SHELL',
    'EDITOR',
    'https_proxy',
    'NPM_CONFIG_PREFIX',
    'SSH_AUTH_SOCK',
    'A B',
    '1A',
    '',
    '__proto__ ',
    'A=B',
  ])('never sets %j, even if it is allowed', async (name) => {
    const { env, problems } = await environment([skill(Object.fromEntries([[name, '~/bin/gh']]))]);
    expect(env).toEqual({});
    expect(problems).toMatchObject([{ code: 'forbidden', path: disk.path('skills/gh/SKILL.md') }]);
  });

  it.each([
    ['gh', 'not-a-path'],
    ['../gh', 'not-a-path'],
    ['a~b', 'not-a-path'],
    ['x=~/bin/gh', 'not-a-path'],
    ['~/bin/gh\0x', 'not-a-path'],
    ['~/bin/missing', 'missing-path'],
    ['/nowhere/at/all', 'missing-path'],
  ])('reports a rejected variable: %j is %s', async (value, code) => {
    const { env, problems } = await environment([skill({ GH_PATH: value })]);
    expect([env, problems.map((problem) => problem.code)]).toEqual([{}, [code]]);
  });

  it('rejects variables of untrusted folders', async () => {
    const { env, problems } = await environment([skill({ GH_PATH: '~/bin/gh' }, { trusted: false })]);
    expect([env, problems.map(({ code }) => code)]).toEqual([{}, ['not-trusted']]);
  });

  it('keeps the value of the first skill', async () => {
    const { env, problems } = await environment([
      skill({ A: '~/bin/gh' }),
      skill({ A: '~/bin' }),
      skill({ A: '~/bin/gh' }),
    ]);
    expect(env).toEqual({ A: disk.path('home/bin/gh') });
    expect(problems.map(({ code }) => code)).toEqual(['taken']);
  });

  it('ignores case on Windows', async () => {
    expect(
      (await environment([skill({ Gh_Path: disk.path('home') })], { allow: ['GH_*'], platform: 'win32' })).env,
    ).toEqual({ Gh_Path: disk.path('home') });
  });

  it.each([[['A B']], ['GH_PATH'], [['']], [[7]]])('rejects the list %j', async (allow) => {
    await expect(environment([], { allow: allow as never })).rejects.toMatchObject({
      code: 'invalid-option',
      message: expect.stringMatching(/"allow(?:\[0\])?"/) as string,
    });
  });
});
