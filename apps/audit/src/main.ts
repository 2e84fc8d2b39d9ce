#!/usr/bin/env node
import { exitCodes, run } from './cli.js';

const code = await run(process.argv.slice(2), process);
// The connections of a stack would keep an interrupted process alive.
if (code === exitCodes.interrupted) process.exit(code);
process.exitCode = code;
