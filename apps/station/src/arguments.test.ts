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
    [['init', 'one', 'two'], 'The command init accepts one folder, but "two" follows it.'],
    [['check', 'one', 'two'], 'The command check accepts one file, but "two" follows it.'],
    [['check', '--port', '1'], 'The command check has no option --port, which belongs to a start.'],
    [['init', '--data', 'd'], 'The command init has no option --data, which belongs to a start, token, revoke.'],
    [['--scope', 'read'], 'A start has no option --scope, which belongs to token.'],
    [['--confg', 'x'], 'Unknown option --confg. Did you mean --config?'],
    [['--port', '-1'], '--port needs a value. Write one that begins with a dash as --port=VALUE.'],
  ])('names what is wrong with %j, and shows the usage', (given, problem) => {
    const [first, , ...usage] = messageOf(...given).split('\n');
    expect(first).toBe(problem);
    expect(usage.join('\n')).toContain('Usage: h-station');
  });

  it('accepts a start without a command, and a command with a name', () => {
    expect(parseArguments([]).command).toBe('start');
    expect(parseArguments(['token', 'ann'])).toMatchObject({ command: 'token', name: 'ann' });
  });

  it.each(['init', 'check', 'token', 'start'])('shows the help and the version after %s', (command) => {
    const words = command === 'start' ? [] : [command];
    expect(parseArguments([...words, '--help']).command).toBe('help');
    expect(parseArguments([...words, '--version']).command).toBe('version');
  });

  it('accepts the target of a command', () => {
    expect(parseArguments(['init', 'folder'])).toMatchObject({ command: 'init', name: 'folder' });
    expect(parseArguments(['check'])).toMatchObject({ command: 'check', name: '' });
  });

  it('reads hosts and origins in the form in which requests have them', () => {
    const given = ['--allow-host', 'a.example', '--allow-host', '[::1]', '--allow-origin', 'https://A.example/'];
    expect(parseArguments(given)).toMatchObject({ hosts: ['a.example', '[::1]'], origins: ['https://a.example'] });
  });

  it.each([
    ['--allow-host', 'http://a.example', 'a name such as station.example.org'],
    ['--allow-host', 'a.example:80', 'a name such as station.example.org'],
    ['--allow-origin', 'a.example', 'an origin such as https://app.example.org'],
    ['--allow-origin', 'https://a.example/app', 'an origin such as https://app.example.org'],
    ['--allow-origin', 'file:///page', 'an origin such as https://app.example.org'],
  ])('rejects %s %s, which no request could match', (option, value, expected) => {
    expect(messageOf(option, value)).toBe(`${option} must be ${expected}, but is "${value}".`);
  });
});
