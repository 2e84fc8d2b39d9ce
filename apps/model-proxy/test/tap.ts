import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LLMock } from '@copilotkit/aimock';

/** What passed a tap in one request. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** Without the headers of the connection, in order and spelling. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  status: number;
  answer: Buffer;
  /** Resolves when the client of the tap has left or the answer has ended. */
  readonly closed: Promise<'complete' | 'aborted'>;
}

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

export const serve = async (listener: RequestListener): Promise<Listening> => {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
};

export const bodyOf = async (incoming: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const ofConnection = new Set(['host', 'connection', 'transfer-encoding', 'keep-alive']);

const endToEnd = (raw: readonly string[]): readonly string[] =>
  raw.flatMap((name, index) =>
    index % 2 === 0 && !ofConnection.has(name.toLowerCase()) ? [`${name}: ${raw[index + 1]}`] : [],
  );

/** A mock of all providers behind a tap that records what passes in both directions. */
export const startTap = async (mock: LLMock): Promise<Listening & { readonly exchanges: Exchange[] }> => {
  const target = new URL(await mock.start());
  const exchanges: Exchange[] = [];
  const tap = await serve((incoming, outgoing) => {
    void bodyOf(incoming).then((body) => {
      const { method = '', url: path = '', rawHeaders, headers } = incoming;
      const { promise, resolve } = withResolvers<'complete' | 'aborted'>();
      const exchange: Exchange = {
        method,
        path,
        headers: endToEnd(rawHeaders),
        body,
        status: 0,
        answer: Buffer.alloc(0),
        closed: promise,
      };
      exchanges.push(exchange);
      outgoing.once('close', () => resolve(outgoing.writableFinished ? 'complete' : 'aborted'));
      const onward = httpRequest({ host: target.hostname, port: target.port, path, method, headers }, (answered) => {
        exchange.status = answered.statusCode ?? 0;
        outgoing.writeHead(exchange.status, answered.rawHeaders);
        answered.on('data', (chunk: Buffer) => {
          exchange.answer = Buffer.concat([exchange.answer, chunk]);
        });
        answered.pipe(outgoing);
        answered.on('error', () => outgoing.destroy());
      });
      onward.on('error', () => outgoing.destroy());
      outgoing.once('close', () => onward.destroy());
      onward.end(body);
    });
  });
  return {
    url: tap.url,
    exchanges,
    close: async () => {
      await tap.close();
      await mock.stop();
    },
  };
};

/** `Promise.withResolvers`, which Node 20 does not have. */
export const withResolvers = <Value>(): {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
} => {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
};

/** A `fetch` that records the bytes of the answers that a client receives. */
export const recordingFetch = (): { readonly fetch: typeof fetch; readonly answers: Buffer[] } => {
  const answers: Buffer[] = [];
  return {
    answers,
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      if (!answer.body) return answer;
      const index = answers.push(Buffer.alloc(0)) - 1;
      const recorded = answer.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform: (chunk, controller) => {
            answers[index] = Buffer.concat([answers[index] ?? Buffer.alloc(0), chunk]);
            controller.enqueue(chunk);
          },
        }),
      );
      return new Response(recorded, answer);
    },
  };
};
