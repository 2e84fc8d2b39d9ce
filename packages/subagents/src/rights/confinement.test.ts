import { describe, expect, it } from 'vitest';
import { confinement, unrestricted, type AgentPolicy } from '../index.js';

const given = (policy: Partial<AgentPolicy>, root = '/repo') => confinement({ ...unrestricted, ...policy }, root);

describe('confinement', () => {
  it('adds no limits for an unrestricted policy', () => {
    expect(given({})).toEqual({
      workspace: {
        root: '/repo',
        readOnlyRoots: [],
        externalDirectory: 'deny',
        permissions: { allowWrite: true, read: {}, write: {} },
      },
      sandbox: { mode: 'host', root: '/repo' },
    });
  });

  it.each<[string, Partial<AgentPolicy>, object]>([
    [
      'a part that may be read',
      { read: ['/repo/src', '/docs'] },
      { readOnlyRoots: [], permissions: { read: { allow: ['/src'] } } },
    ],
    [
      'more folders that may be read',
      { read: ['/', '/repo', '/docs', '/secret'], deniedPaths: ['/secret'] },
      { readOnlyRoots: ['/docs'] },
    ],
    [
      'what may be read elsewhere, without what is denied there',
      { read: ['/repo', '/docs'], deniedPaths: ['/docs/private'] },
      { readOnlyRoots: ['/docs'], permissions: { read: { deny: ['/private'] } } },
    ],
    ['nothing to read', { read: ['/elsewhere'] }, { permissions: { read: { allow: [] } } }],
    [
      'a part that may be written',
      { write: ['/repo/out', '/elsewhere'] },
      { permissions: { allowWrite: true, read: {}, write: { allow: ['/out'] } } },
    ],
    ['nothing to write', { write: [] }, { permissions: { allowWrite: false, write: { allow: [] } } }],
    ['a sandbox in which nothing is written', { sandbox: 'read-only' }, { permissions: { allowWrite: false } }],
    ['what is denied', { deniedPaths: ['/repo/keys', '/elsewhere'] }, { permissions: { read: { deny: ['/keys'] } } }],
    ['a folder that is denied as a whole', { deniedPaths: ['/repo'] }, { permissions: { read: { deny: ['*'] } } }],
    [
      'names that mean something in patterns',
      { deniedPaths: ['/repo/[a]*?\\b'] },
      { permissions: { read: { deny: ['/\\[a\\]\\*\\?\\\\b'] } } },
    ],
    [
      'a name that ends in space',
      { read: ['/repo/a '], deniedPaths: ['/repo/b  '] },
      { permissions: { read: { allow: [], deny: ['/b??'] } } },
    ],
  ])('gives a workspace %s', (_, policy, expected) => {
    expect(given(policy).workspace).toMatchObject(expected);
  });

  it.each<[string, Partial<AgentPolicy>, object | undefined]>([
    [
      'a read-only one where nothing may be written',
      { write: [] },
      { mode: 'bubblewrap', root: '/repo', network: true, readOnly: true, readOnlyPaths: [] },
    ],
    [
      'a read-only one where only a part may be written',
      { write: ['/repo/src'] },
      { mode: 'bubblewrap', readOnly: true },
    ],
    [
      'one without network where not every host may be reached',
      { hosts: ['example.org'] },
      { mode: 'bubblewrap', network: false, readOnly: false },
    ],
    [
      'one without network where a host is denied',
      { deniedHosts: ['example.org'] },
      { mode: 'bubblewrap', network: false },
    ],
    ['one that is asked for', { sandbox: 'workspace-write' }, { mode: 'bubblewrap', readOnly: false, network: true }],
    ['one that shows more to read', { read: ['/repo', '/docs'] }, { mode: 'bubblewrap', readOnlyPaths: ['/docs'] }],
    ['none where only a part may be read', { read: ['/repo/src'] }, undefined],
    ['none where something in it is denied', { deniedPaths: ['/repo/keys'] }, undefined],
    [
      'none where something is denied in what it would show',
      { read: ['/repo', '/docs'], deniedPaths: ['/docs/private'] },
      undefined,
    ],
    ['none in a folder that is denied', { deniedPaths: ['/'] }, undefined],
  ])('chooses as sandbox %s', (_, policy, expected) => {
    const { sandbox } = given(policy);
    if (expected) expect(sandbox).toMatchObject(expected);
    else expect(sandbox).toBeUndefined();
  });

  it('rejects an invalid policy', () => {
    expect(() => given({ tool: [] } as never)).toThrow(/policy: unknown option "tool"/);
  });
});
