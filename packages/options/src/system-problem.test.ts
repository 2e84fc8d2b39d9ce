import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listenProblem, readProblem } from './system-problem.js';

const errorOf = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return error;
  }
};

const listenError = (host: string, port: number): Promise<unknown> =>
  new Promise((resolve) => {
    const server = createServer().once('error', resolve);
    server.listen(port, host, () => server.close(resolve));
  });

describe('readProblem', () => {
  it('names the file and what is wrong with it, without the call of the system', () => {
    const missing = join(tmpdir(), 'no such folder', 'a.yaml');
    expect(
      readProblem(
        errorOf(() => readFileSync(missing)),
        missing,
      ),
    ).toBe(`${missing} does not exist.`);
    expect(
      readProblem(
        errorOf(() => readFileSync(tmpdir())),
        'x',
      ),
    ).toBe('x is a folder.');
    expect(
      readProblem(
        errorOf(() => readFileSync(join(import.meta.filename, 'a'))),
        'x',
      ),
    ).toMatch(/^x does not exist\.$|^x cannot be read: a folder of its path is a file\.$/);
    expect(readProblem(Object.assign(new Error('no'), { code: 'EACCES' }), 'x')).toBe(
      'x cannot be read: permission denied.',
    );
  });

  it('ends with the message of another error', () => {
    expect(readProblem(new Error('It is torn.'), 'x')).toBe('x cannot be read: It is torn.');
    expect(readProblem('torn', 'x')).toBe('x cannot be read: torn.');
  });
});

describe('listenProblem', () => {
  it('names the address and what is wrong with it', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const inUse = listenProblem(await listenError('127.0.0.1', port), { host: '127.0.0.1', port });
    server.close();
    expect(inUse).toBe(`Port ${port} of 127.0.0.1 is in use by another program.`);
    const foreign = listenProblem(await listenError('192.0.2.1', 0), { host: '192.0.2.1', port: 0 });
    expect(foreign).toBe('192.0.2.1 is not an address of this machine.');
    const unknown = Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    expect(listenProblem(unknown, { host: '300.1.1.1', port: 0 })).toBe('300.1.1.1 is not an address of this machine.');
    const privileged = Object.assign(new Error('no'), { code: 'EACCES' });
    expect(listenProblem(privileged, { host: '::1', port: 80 })).toBe('Port 80 of ::1 requires more permissions.');
  });

  it('returns the error itself if it has another cause', () => {
    expect(listenProblem(new Error('Oh.'), { host: 'a', port: 1 })).toBe('a, port 1: Oh.');
  });
});
