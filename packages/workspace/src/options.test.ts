import { describe, expect, it } from 'vitest';
import { git } from './git/git.js';
import { gitConfig } from './git/options.js';
import { checkSandboxOptions } from './sandbox/options.js';

const sandbox = (options: object) => () => checkSandboxOptions({ mode: 'e2b', root: '/work', ...options } as never);

describe('an option of the workspace that is wrong', () => {
  it.each<[() => unknown, string]>([
    [
      sandbox({ timeout: 5 }),
      'createSandbox: the option "timeout" is not valid: there is no such option; did you mean "timeoutMs"?',
    ],
    [sandbox({ colour: 'red' }), 'createSandbox: the option "colour" is not valid: there is no such option.'],
    [sandbox({ lifetimeMs: -3 }), '; it was given -3.'],
    [
      sandbox({ exclude: ['a', 7] }),
      'the option "exclude[1]" is not valid: Invalid input: expected string, received number; it was given 7.',
    ],
    [() => gitConfig({ autobranch: true }), 'did you mean "auto_branch"?'],
    [() => git({ repository: {} } as never), 'it has to be what createGitRepository returns; it was given {}.'],
  ])('is named with its value, and what was meant', (make, message) => {
    expect(make).toThrow(message);
  });

  it('shows nothing of a key', () => {
    expect(sandbox({ apiKey: ['e2b_0123456789'] })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('0123') as string }) as Error,
    );
  });
});
