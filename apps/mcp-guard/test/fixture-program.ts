import { appendFileSync } from 'node:fs';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { fixtureServer, fixtureState } from './fixture-server.js';

const [log] = process.argv.slice(2);
const state = fixtureState((line) => log !== undefined && appendFileSync(log, `${line}\n`));

serveStdio(
  fixtureServer(state, (server) => {
    server.registerTool('die', {}, () => process.exit(3));
    server.registerTool('pid', {}, () => ({ content: [{ type: 'text', text: String(process.pid) }] }));
    server.registerTool('flood', {}, () => {
      for (let count = 0; count < 2_000; count += 1) server.sendToolListChanged();
      process.stdout.write('this is not a message\n'.repeat(2_000));
      return { content: [{ type: 'text', text: 'flooded' }] };
    });
  }),
);
