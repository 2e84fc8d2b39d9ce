import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@h/config';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runCommand } from './cli.js';

const output = (stream: 'stdout' | 'stderr') => vi.spyOn(process[stream], 'write').mockReturnValue(true);

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

/** Runs a command that fails, and returns the first line of its message and its exit code. */
const failureOf = async (...args: readonly string[]): Promise<readonly [string | undefined, unknown]> => {
  const errors = output('stderr');
  await runCommand(args);
  return [String(errors.mock.calls[0]?.[0]).split('\n')[0], process.exitCode];
};

describe('runCommand', () => {
  const missing = join(tmpdir(), 'no-such-folder', 'proxy.yaml');

  it.each([
    [['chekc'], 'There is no command "chekc".'],
    [['check', 'proxy.yaml'], 'Unexpected argument "proxy.yaml".'],
    [['key'], 'The command key needs the NAME of a client.'],
    [['key', 'ann', 'bob'], 'Unexpected argument "bob".'],
    [['--confg', 'x'], 'Unknown option --confg. Did you mean --config?'],
    [['--config', missing], `${missing} does not exist.`],
    [['check', '--config', tmpdir()], `${tmpdir()} is a folder.`],
    [['--port', 'x'], '--port must be a number from 0 to 65535, but is "x".'],
  ])('names what is wrong with %j', async (args, problem) => {
    expect(await failureOf(...args)).toEqual([problem, 2]);
  });

  it('names a port that is in use, and what to change', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = String((server.address() as AddressInfo).port);
    const problem = `Port ${port} of 127.0.0.1 is in use by another program. Change "listen", or pass --port.`;
    expect(await failureOf('--port', port)).toEqual([problem, 2]);
    server.close();
  });

  it('prints a client whose name needs quotes as YAML', async () => {
    const lines = output('stdout');
    await runCommand(['key', 'ann: #1']);
    const text = lines.mock.calls.map(([line]) => line).join('');
    expect(parseConfig(text.slice(text.indexOf('clients:')), 'proxy.yaml').value).toEqual({
      clients: [{ name: 'ann: #1', keyHash: expect.any(String) as string }],
    });
  });
});
