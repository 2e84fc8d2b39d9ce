import { describe, expect, it } from 'vitest';
import { parseArguments, UsageError } from './arguments.js';

const messageOf = (...given: readonly string[]): string => {
  try {
    parseArguments(given);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return '';
};

describe('parseArguments', () => {
  it.each([
    [['serve'], 'There is no command "serve".'],
    [['token'], 'The command token needs a NAME.'],
    [['revoke', ''], 'The command revoke needs a NAME.'],
    [['token', 'ann', 'bob'], 'The command token accepts one NAME, but "bob" follows it.'],
  ])('names what is wrong with %j, and shows the usage', (given, problem) => {
    const [first, , ...usage] = messageOf(...given).split('\n');
    expect(first).toBe(problem);
    expect(usage.join('\n')).toContain('Usage: h-station');
  });

  it('accepts a start without a command, and a command with a name', () => {
    expect(parseArguments([]).command).toBe('start');
    expect(parseArguments(['token', 'ann'])).toMatchObject({ command: 'token', name: 'ann' });
  });
});
