/**
 * `npm run bench:value`: what the packages are worth on recorded runs, without a model. Generates its runs; with folders or
 * files of transcripts as arguments (`npm run bench:value -- ~/.claude/projects`) it measures those.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadPrices } from '../../packages/prices/dist/index.js';
import { generateRuns } from './fixtures.mjs';
import { valueMarkdown } from './markdown.mjs';
import { measureRuns } from './measures.mjs';
import { readRuns } from './run.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, runs: { type: 'string', default: '24' } },
});
const generated = mkdtempSync(join(tmpdir(), 'h-value-'));
try {
  for (const { name, text } of generateRuns(Number(values.seed), Number(values.runs))) {
    writeFileSync(join(generated, name), text);
  }
  const { runs, skipped } = await readRuns(positionals.length > 0 ? positionals : [generated]);
  for (const reason of skipped) console.error(`Skipped ${reason}`);
  if (runs.length === 0) throw new Error('No runs were found. Pass files or folders with transcripts.');
  const { peerMethods } = await import('./peers.mjs');
  const measures = await measureRuns(runs, { costOf: await loadPrices(), peerMethods });
  const source =
    positionals.length > 0
      ? 'Recorded by agents of this user.'
      : `Generated with seed ${values.seed} in the forms of Claude Code, Codex and OpenAI chat; their usage comes from a simulated provider.`;
  console.log(valueMarkdown(measures, source));
} finally {
  rmSync(generated, { recursive: true, force: true });
}
