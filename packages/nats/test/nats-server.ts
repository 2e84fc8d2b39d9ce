import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect as connectSocket, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSafeWithReplicas } from '../src/streams.js';

const version = spawnSync('nats-server', ['--version'], { encoding: 'utf8' }).stdout?.match(/v(\d.*)/)?.[1];

/** Whether `nats-server` is installed; `.ci/run` installs it. */
export const hasServer = version !== undefined;

/** Whether it keeps what it has confirmed when nodes of a cluster are killed. */
export const hasClusterServer = version !== undefined && isSafeWithReplicas(version);

/** Finds ports that differ, because all are in use until the last one is found. */
const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
};

/** A NATS server with JetStream. Its data survives `kill()`. */
export class NatsServer {
  readonly #port: number;
  readonly #directory: string;
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(port: number, directory: string, flags: readonly string[] = []) {
    this.#port = port;
    this.#directory = directory;
    this.#flags = flags;
  }

  /** @param flags further arguments of the program */
  static async start(flags: readonly string[] = []): Promise<NatsServer> {
    const [port = 0] = await freePorts(1);
    const server = new NatsServer(port, await mkdtemp(join(tmpdir(), 'h-nats-')), flags);
    await server.run();
    return server;
  }

  /** Starts the nodes of a cluster. */
  static async cluster(size: number): Promise<readonly NatsServer[]> {
    const ports = await freePorts(2 * size);
    const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`);
    const servers = await Promise.all(
      routes.map(async (route, node) => {
        const flags = ['-n', `node-${node}`, '-cluster_name', 'h', '-cluster', route, '-routes', routes.join()];
        return new NatsServer(ports[node] ?? 0, await mkdtemp(join(tmpdir(), 'h-nats-')), flags);
      }),
    );
    await Promise.all(servers.map((server) => server.run()));
    return servers;
  }

  get port(): number {
    return this.#port;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async run(): Promise<void> {
    const flags = ['-js', '-sd', this.#directory, '-a', '127.0.0.1', '-p', String(this.#port), ...this.#flags];
    const child = spawn('nats-server', flags, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let log = '';
    // The server dies of SIGPIPE if its log is not read to the end.
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk) => {
        if (log.includes('Server is ready')) return;
        log += String(chunk);
        if (log.includes('Server is ready')) resolve();
      });
      child.once('error', reject);
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
  /** Whether connections stay open but pass nothing on, as after the loss of a route. */
  isSilent = false;
  /** How fast the client can send. */
  bytesPerSecond = Infinity;
  /** Called with each chunk from the server; `false` cuts the connection instead of passing it on. */
  passes: (chunk: Buffer) => boolean = () => true;
  /** Returns what the client receives instead of a chunk from the server. */
  rewrite: (chunk: Buffer) => Buffer = (chunk) => chunk;

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
      client.on('data', (chunk: Buffer) => {
        if (this.bytesPerSecond === Infinity) return void upstream.write(chunk);
        client.pause();
        const sendMs = (chunk.byteLength / this.bytesPerSecond) * 1_000;
        setTimeout(() => {
          upstream.write(chunk);
          client.resume();
        }, sendMs);
      });
      upstream.on('data', (chunk: Buffer) => {
        if (this.isSilent) return;
        if (this.passes(chunk)) client.write(this.rewrite(chunk));
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
