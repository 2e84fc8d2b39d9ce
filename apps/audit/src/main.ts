#!/usr/bin/env node
import { parentPort } from 'node:worker_threads';
import { exitCodes, run } from './cli.js';
import { serveSessions } from './threads/serve-sessions.js';

if (parentPort) {
  await serveSessions(parentPort);
} else {
  const code = await run(process.argv.slice(2), process, new URL(import.meta.url));
  // The connections of a stack would keep an interrupted process alive.
  if (code === exitCodes.interrupted) process.exit(code);
  process.exitCode = code;
}
