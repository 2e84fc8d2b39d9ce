import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';

/** A service with e2b's HTTP API on loopback that runs the commands on this machine. */
export interface FakeE2b {
  readonly url: string;
  /** Bodies of the requests that created machines, in order. */
  readonly created: readonly Record<string, unknown>[];
  /** Paths of files that were written to machines, in order. */
  readonly uploads: string[];
  /** Running machines. */
  readonly alive: ReadonlySet<string>;
  /** Status of the response to the next request for a machine. */
  refuse(status: number): void;
  /** Ends all connections and machines. */
  stop(): Promise<void>;
}

interface StartRequest {
  readonly process: {
    readonly cmd: string;
    readonly args: readonly string[];
    readonly envs?: Record<string, string>;
    readonly cwd?: string;
  };
  readonly stdin?: boolean;
}

interface ProcessRequest {
  readonly process: { readonly pid: number };
  readonly input?: { readonly stdin?: string };
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => Buffer.concat(await request.toArray());

/** Encodes a message of a stream: a flag, four bytes of length, JSON. */
const envelope = (flag: number, message: unknown): Buffer => {
  const json = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(json.length, 1);
  return Buffer.concat([head, json]);
};

export const startFakeE2b = async (apiKey: string): Promise<FakeE2b> => {
  const created: Record<string, unknown>[] = [];
  const uploads: string[] = [];
  const alive = new Set<string>();
  const processes = new Map<number, ChildProcess>();
  let refusal: number | undefined;
  let machineEnvironment: Record<string, string> = {};

  const json = (response: ServerResponse, status: number, body?: unknown): void => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(body === undefined ? undefined : JSON.stringify(body));
  };

  const killAll = (): void => {
    for (const { pid } of processes.values()) {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      } catch {
        // The process has already ended.
      }
    }
  };

  const startProcess = (
    response: ServerResponse,
    { process: { cmd, args, envs, cwd }, stdin = false }: StartRequest,
  ): void => {
    const environment = { PATH: process.env['PATH'] ?? '', HOME: '/tmp', USER: 'user', ...machineEnvironment, ...envs };
    const child = spawn(cmd, args, {
      cwd,
      env: environment,
      detached: true,
      stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    const { pid = -1 } = child;
    processes.set(pid, child);
    child.stdin?.on('error', () => {});
    response.writeHead(200, { 'content-type': 'application/connect+json' });
    const tell = (event: object): void => void response.write(envelope(0, { event }));
    tell({ start: { pid } });
    child.stdout?.on('data', (chunk: Buffer) => tell({ data: { stdout: chunk.toString('base64') } }));
    child.stderr?.on('data', (chunk: Buffer) => tell({ data: { stderr: chunk.toString('base64') } }));
    child.on('close', (code) => {
      processes.delete(pid);
      tell({
        end: {
          exitCode: code ?? -1,
          exited: code !== null,
          status: code === null ? 'signal: killed' : `exit status ${code}`,
        },
      });
      response.end(envelope(2, {}));
    });
  };

  const withProcess = (response: ServerResponse, request: ProcessRequest, act: (child: ChildProcess) => void): void => {
    const child = processes.get(request.process.pid);
    if (child === undefined) {
      json(response, 404, { code: 'not_found', message: 'no such process' });
      return;
    }
    act(child);
    json(response, 200, {});
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const route = `${request.method} ${url.pathname}`;
    const path = url.searchParams.get('path') ?? '';
    const body = await bodyOf(request);
    const message = (skip = 0): unknown => JSON.parse(body.subarray(skip).toString());
    const isControl = url.pathname.includes('sandboxes');
    if (isControl && request.headers['x-api-key'] !== apiKey) {
      json(response, 401, { code: 401, message: 'wrong API key' });
    } else if (request.method === 'POST' && isControl) {
      if (refusal !== undefined) {
        json(response, refusal, { code: refusal, message: 'no machine for you' });
        refusal = undefined;
        return;
      }
      const wanted = message() as Record<string, unknown>;
      created.push(wanted);
      machineEnvironment = (wanted['envVars'] ?? {}) as Record<string, string>;
      const sandboxID = `machine-${created.length}`;
      alive.add(sandboxID);
      json(response, 201, {
        sandboxID,
        templateID: 'base',
        clientID: 'x',
        envdVersion: '0.7.0',
        envdAccessToken: 'token',
      });
    } else if (request.method === 'DELETE' && isControl) {
      alive.delete(url.pathname.split('/').at(-1) ?? '');
      killAll();
      response.writeHead(204).end();
    } else if (route === 'GET /health') {
      response.writeHead(204).end();
    } else if (route === 'POST /process.Process/Start') {
      startProcess(response, message(5) as StartRequest);
    } else if (route === 'POST /process.Process/SendInput') {
      const sent = message() as ProcessRequest;
      withProcess(response, sent, (child) => child.stdin?.write(Buffer.from(sent.input?.stdin ?? '', 'base64')));
    } else if (route === 'POST /process.Process/CloseStdin') {
      withProcess(response, message() as ProcessRequest, (child) => child.stdin?.end());
    } else if (route === 'POST /process.Process/SendSignal') {
      withProcess(response, message() as ProcessRequest, (child) => child.kill('SIGKILL'));
    } else if (route === 'GET /files') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(readFileSync(path));
    } else if (route === 'POST /files') {
      uploads.push(path);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, body);
      chmodSync(path, 0o644);
      json(response, 200, [{ name: path, type: 'file', path }]);
    } else {
      json(response, 501, { code: 'unimplemented', message: route });
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => json(response, 500, { message: String(error) }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    created,
    uploads,
    alive,
    refuse: (status) => {
      refusal = status;
    },
    stop: async () => {
      killAll();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
