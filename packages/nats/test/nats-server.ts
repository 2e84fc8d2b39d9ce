import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect as connectSocket, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether `nats-server` is installed; `.ci/run` installs it. */
export const hasServer = spawnSync('nats-server', ['--version']).status === 0;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** A NATS server with JetStream. Its data survives `kill()`. */
export class NatsServer {
  readonly #port: number;
  readonly #directory: string;
  readonly #options: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(port: number, directory: string, options: readonly string[]) {
    this.#port = port;
    this.#directory = directory;
    this.#options = options;
  }

  /** @param options further arguments of the program */
  static async start(options: readonly string[] = []): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), await mkdtemp(join(tmpdir(), 'h-nats-')), options);
    await server.run();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async run(): Promise<void> {
    const options = ['-js', '-sd', this.#directory, '-a', '127.0.0.1', '-p', String(this.#port), ...this.#options];
    const child = spawn('nats-server', options, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      // The server ends if it cannot write to its log, so all of the log is read.
      child.stderr.on('data', (chunk: Buffer) => {
        log = `${log}${chunk.toString()}`.slice(-10_000);
        if (log.includes('Server is ready')) resolve();
      });
      child.once('exit', () => reject(new Error(`nats-server did not start: ${log}`)));
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** A TCP proxy in front of a server that can cut connections and lose answers. */
export class Proxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Whether new connections are accepted. */
  isOpen = true;
  /** Called with each chunk from the server; `false` cuts the connection instead of passing it on. */
  passes: (chunk: Buffer) => boolean = () => true;

  constructor(port: number) {
    this.#server = createServer((client) => {
      if (!this.isOpen) return void client.destroy();
      const upstream = connectSocket(port, '127.0.0.1');
      const cut = (): void => {
        client.destroy();
        upstream.destroy();
      };
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', cut);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          cut();
        });
      }
      client.on('data', (chunk) => upstream.write(chunk));
      upstream.on('data', (chunk: Buffer) => {
        if (this.passes(chunk)) client.write(chunk);
        else cut();
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
