import { describe, expect, it } from 'vitest';
import { checkedEnvironment, inheritedEnvironment } from './environment.js';

describe('inheritedEnvironment', () => {
  const source = {
    PATH: '/bin',
    HOME: '/home/me',
    LC_ALL: 'C',
    ANTHROPIC_API_KEY: 'sk',
    AWS_SECRET_ACCESS_KEY: 'x',
    NODE_OPTIONS: '-r x',
    LD_PRELOAD: 'x',
  };

  it('hands on what is harmless and no keys', () => {
    expect(inheritedEnvironment(source)).toEqual({ PATH: '/bin', HOME: '/home/me', LC_ALL: 'C' });
  });

  it('hands on what is named, if it is set', () => {
    expect(inheritedEnvironment(source, ['NODE_OPTIONS', 'MISSING'])).toMatchObject({ NODE_OPTIONS: '-r x' });
    expect(inheritedEnvironment(source, ['MISSING'])).not.toHaveProperty('MISSING');
  });
});

describe('checkedEnvironment', () => {
  it('refuses a name that is none and does not tell the value', () => {
    expect(() => checkedEnvironment({ 'A-B': 'secret' })).toThrow(/"A-B" is no name of a variable/);
    expect(() => checkedEnvironment({ 'A-B': 'secret' })).not.toThrow(/secret/);
  });

  it('refuses a value that no process could get', () => {
    expect(() => checkedEnvironment({ A: 'x\0y' })).toThrow(/value of A/);
    expect(() => checkedEnvironment({ A: 1 as unknown as string })).toThrow(/value of A/);
  });
});
