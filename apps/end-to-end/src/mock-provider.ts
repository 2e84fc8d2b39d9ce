import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LLMock, type ChatCompletionRequest, type FixtureResponse, type JournalEntry } from '@copilotkit/aimock';

/** A provider on loopback that records every request body. */
export interface MockProvider {
  /** Base URL for an SDK. */
  readonly url: string;
  /** The bodies as received over the wire, in order. */
  readonly bodies: readonly string[];
  /** The same requests as parsed by the mock. */
  received(): readonly JournalEntry[];
  stop(): Promise<void>;
}

/** Starts a mock of all providers behind a proxy that records the request bodies. */
export const startMockProvider = async (
  answer: (request: ChatCompletionRequest) => FixtureResponse,
): Promise<MockProvider> => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  mock.on({ predicate: () => true }, answer);
  const target = new URL(await mock.start());
  const bodies: string[] = [];
  const listener = createServer((incoming, outgoing) => {
    void textOf(incoming).then((body) => {
      bodies.push(body);
      const { method, headers, url: path } = incoming;
      const onward = httpRequest({ host: target.hostname, port: target.port, path, method, headers }, (answered) => {
        outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(outgoing);
      });
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/v1`,
    bodies,
    received: () => mock.getRequests(),
    stop: async () => {
      await closed(listener);
      await mock.stop();
    },
  };
};

const textOf = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const closed = async (server: Server): Promise<void> => {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
};
