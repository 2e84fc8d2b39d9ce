import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { harness, reply } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { observe } from '../observe.js';
import { openTelemetry } from './index.js';

const faults: Readonly<Record<string, (outgoing: ServerResponse) => void>> = {
  'rejects an export': (outgoing) => outgoing.writeHead(401).end(),
  'is overloaded': (outgoing) => outgoing.writeHead(503).end(),
  'asks to wait for an hour': (outgoing) => outgoing.writeHead(429, { 'retry-after': '3600' }).end(),
  'redirects to itself': (outgoing) => outgoing.writeHead(307, { location: '/v1/traces' }).end(),
  'breaks the connection': (outgoing) => outgoing.destroy(),
  'never answers': () => undefined,
  'begins an answer only': (outgoing) => outgoing.writeHead(200).flushHeaders(),
  'never ends an answer': (outgoing) => {
    const timer = setInterval(() => outgoing.write('x'), 100);
    outgoing.once('close', () => clearInterval(timer));
  },
};

let fault: (outgoing: ServerResponse) => void = () => undefined;
const server = createServer((incoming, outgoing) => {
  incoming.resume().once('end', () => fault(outgoing));
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('a collector', () => {
  it.each(Object.keys(faults))(
    'that %s fails no turn, does not prevent the end, and is reported once',
    async (name) => {
      fault = faults[name] as typeof fault;
      if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const failures: Error[] = [];
      const telemetry = await openTelemetry({ url, serviceName: 'test', onFailure: (error) => failures.push(error) });
      const model = telemetry.traceModel(scriptedModel(Array.from({ length: 50 }, () => 'Done.')));
      const agent = harness({ model }).pipe(observe({ sinks: telemetry.sinks }));
      for (let turn = 0; turn < 50; turn += 1) await reply(agent.turn({ session: `${turn}`, input: 'Hello' }));
      // Without a limit, this exceeds the time of the test.
      await telemetry.close();
      expect(failures).toHaveLength(1);
    },
  );
});
