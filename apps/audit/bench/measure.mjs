/**
 * Measures the speed of `h-audit --json` by CPU time, that of the garbage collector and the compiler included, and by the
 * clock, and the largest size of the process.
 *
 *   node bench/corpus.mjs <folder> 1000
 *   node bench/measure.mjs <folder> [options of h-audit]        (after a build)
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: node bench/measure.mjs <folder> [options of h-audit]');
  process.exit(2);
}
const bytes = readdirSync(folder, { recursive: true })
  .map((name) => statSync(join(folder, name)))
  .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);

const start = performance.now();
process.on('exit', () => {
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage();
  const cpu = (user + system) / 1e6;
  const rate = (time) => `${time.toFixed(1)} s, ${(bytes / 1e6 / time).toFixed(1)} MB/s`;
  console.error(`${(bytes / 1e6).toFixed(0)} MB: CPU ${rate(cpu)}; clock ${rate(seconds)}`);
  console.error(`${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB of memory`);
});
process.argv.push('--json');
await import('../dist/main.js');
