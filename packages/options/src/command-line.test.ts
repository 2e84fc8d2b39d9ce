import { parseArgs } from 'node:util';
import { describe, expect, it } from 'vitest';
import { commandLineProblem } from './command-line.js';

const options = {
  config: { type: 'string', short: 'c' },
  port: { type: 'string' },
  demo: { type: 'boolean' },
} as const;

const problemOf = (...args: readonly string[]): string => {
  try {
    parseArgs({ args: [...args], options });
  } catch (error) {
    return commandLineProblem(error, options);
  }
  return '';
};

describe('commandLineProblem', () => {
  it.each([
    [['--confg', 'x'], 'Unknown option --confg. Did you mean --config?'],
    [['--PORT=3'], 'Unknown option --PORT. Did you mean --port?'],
    [['-x'], 'Unknown option -x. See --help.'],
    [['--verbose'], 'Unknown option --verbose. See --help.'],
    [['--port', '-1'], '--port needs a value. Write one that begins with a dash as --port=VALUE.'],
    [['--config', '--demo'], '--config needs a value. Write one that begins with a dash as --config=VALUE.'],
    [['-c', '-x'], '-c needs a value. Write one that begins with a dash as -cVALUE.'],
    [['--port'], '--port needs a value.'],
    [['--config'], '--config needs a value.'],
    [['--demo=3'], '--demo accepts no value.'],
  ])('names the option of %j and what to do', (args, problem) => {
    expect(problemOf(...args)).toBe(problem);
  });

  it('returns the message of another error', () => {
    expect(commandLineProblem(new Error('No.'), options)).toBe('No.');
    expect(commandLineProblem('no', options)).toBe('no');
  });
});
