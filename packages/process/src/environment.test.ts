import { describe, expect, it } from 'vitest';
import { checkEnvironment, minimalEnvironment, withoutSecrets } from './environment.js';

const source = {
  PATH: '/bin',
  HOME: '/home/me',
  LC_ALL: 'C',
  PLAIN: 'x',
  KEYBOARD: 'us',
  ANTHROPIC_API_KEY: 'sk',
  AWS_SECRET_ACCESS_KEY: 'x',
  GITHUB_TOKEN: 'x',
  NODE_OPTIONS: '-r x',
  LD_PRELOAD: 'x',
  'BASH_FUNC_ls%%': '() { :; }',
};

describe('minimalEnvironment', () => {
  it('includes harmless variables only', () => {
    expect(minimalEnvironment(source)).toEqual({ PATH: '/bin', HOME: '/home/me', LC_ALL: 'C' });
  });

  it('includes a named variable if it is set', () => {
    expect(minimalEnvironment(source, ['NODE_OPTIONS', 'MISSING'])).toMatchObject({ NODE_OPTIONS: '-r x' });
    expect(minimalEnvironment(source, ['MISSING'])).not.toHaveProperty('MISSING');
  });
});

describe('withoutSecrets', () => {
  it('removes secrets and variables that inject code', () => {
    expect(Object.keys(withoutSecrets(source))).toEqual(['PATH', 'HOME', 'LC_ALL', 'PLAIN', 'KEYBOARD']);
  });

  it('keeps a named variable', () => {
    expect(withoutSecrets(source, ['GITHUB_TOKEN'])).toMatchObject({ GITHUB_TOKEN: 'x' });
  });
});

describe('checkEnvironment', () => {
  it('refuses an invalid name without showing the value', () => {
    expect(() => checkEnvironment('make()', { 'A-B': 'hidden' })).toThrow(
      /^make\(\): "environment.A-B" is not the name/,
    );
    expect(() => checkEnvironment('make()', { 'A-B': 'hidden' })).not.toThrow(/hidden/);
  });

  it('refuses a value that no process could receive', () => {
    expect(() => checkEnvironment('make()', { A: 'x\0y' })).toThrow(/"environment.A" must be a string/);
    expect(() => checkEnvironment('make()', { A: 1 as unknown as string })).toThrow(/"environment.A" must be a string/);
    expect(() => checkEnvironment('make()', ['x'] as never)).toThrow('"environment" must be an object');
  });
});
