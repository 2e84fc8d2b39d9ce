#!/usr/bin/env node
import { main } from './cli/main.js';

process.exitCode = await main(process.argv.slice(2), {
  isTerminal: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
  say: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
});
