/**
 * Runs or resumes the turn of `long-world.ts`, with a point on standard output for each new event, and prints a report:
 * `<directory> <lease in milliseconds>`.
 */
import { writeSync } from 'node:fs';
import { longWorld, runToEnd } from './long-world.js';

const [directory = '', leaseMs = '30000'] = process.argv.slice(2);
const world = longWorld(directory, Number(leaseMs));
runToEnd(world, () => writeSync(1, '.')).then(
  (outcome) => process.stdout.write(`${JSON.stringify(world.report(outcome))}\n`),
  (error: unknown) => {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
    process.exitCode = 1;
  },
);
