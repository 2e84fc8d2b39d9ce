import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { currentServer, serverMemory } from './current-server.js';

serveStdio(
  currentServer(serverMemory(), (server) => {
    const die = (): never => process.exit(3);
    server.registerTool('die', {}, die);
    server.registerTool('die-once', { annotations: { readOnlyHint: true } }, () =>
      process.env['SURVIVOR'] === undefined ? die() : { content: [{ type: 'text', text: 'I live.' }] },
    );
    server.registerTool('hang', {}, () => new Promise<never>(() => undefined));
  }),
);
