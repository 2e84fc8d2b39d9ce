/** Runs or resumes the turn of `long-world.ts` and prints a report: `<directory> <lease in milliseconds>`. */
import { longWorld, runToEnd } from './long-world.js';

const [directory = '', leaseMs = '30000'] = process.argv.slice(2);
const world = longWorld(directory, Number(leaseMs));
process.stdout.write('ready\n');
runToEnd(world).then(
  (outcome) => process.stdout.write(`${JSON.stringify(world.report(outcome))}\n`),
  (error: unknown) => {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
    process.exitCode = 1;
  },
);
