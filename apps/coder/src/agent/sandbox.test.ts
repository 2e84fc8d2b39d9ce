import { describe, expect, it } from 'vitest';
import { parseArguments, type CoderArguments } from '../arguments.js';
import { sandboxOptions } from './sandbox.js';

const given = (...words: readonly string[]): CoderArguments => parseArguments(words) as CoderArguments;

describe('sandboxOptions', () => {
  it('runs commands on the host by default', () => {
    expect(sandboxOptions('/work', given())).toEqual({ mode: 'host', root: '/work' });
  });

  it('isolates commands in bubblewrap without the network', () => {
    expect(sandboxOptions('/work', given('--sandbox', 'bubblewrap'))).toMatchObject({
      mode: 'bubblewrap',
      root: '/work',
      network: false,
    });
    expect(sandboxOptions('/work', given('--sandbox', 'bubblewrap', '--network'))).toMatchObject({ network: true });
  });

  it('isolates commands in a container of the given or the default image', () => {
    expect(sandboxOptions('/work', given('--sandbox', 'docker'))).toEqual({
      mode: 'docker',
      root: '/work',
      network: false,
      image: 'node:24',
    });
    expect(sandboxOptions('/work', given('--sandbox', 'docker', '--image', 'rust:1'))).toMatchObject({
      image: 'rust:1',
    });
  });
});
