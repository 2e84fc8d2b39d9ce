import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { entriesOf } from '../tsup/entries.js';

/** @typedef {{ folder: string, manifest: import('./manifest.js').Manifest & { bin?: Record<string, string> } }} Package */

/** Entries that no bundle can contain, with the reason. */
const unbundled = new Map([
  ['create-h', 'copies the template beside its code'],
  ['@h/claude-agent-sdk/doctor', 'the Claude Agent SDK needs its own address, and starts a program beside its code'],
]);

/** Loads each entry of a bundle, and prints the failures as JSON. */
const loadAll = `
const failures = [];
const entries = require(process.argv[1]);
for (const [name, load] of Object.entries(entries)) {
  try { load(); } catch (error) { failures.push(name + ': ' + error); }
}
console.log(JSON.stringify(failures));
process.exit();
`;

/**
 * Returns the entries that do not load from a bundle in CommonJS, such as one of a serverless function: code in which
 * `import.meta` is empty and `await` is allowed in functions only. Programs (`bin`) are not bundled.
 *
 * @type {(packages: readonly Package[]) => Promise<string[]>}
 */
export const commonJsProblems = async (packages) => {
  const entries = packages.flatMap(({ folder, manifest }) =>
    entriesOf(manifest.exports ?? {})
      .filter(({ file }) => !Object.values(manifest.bin ?? {}).includes(file))
      .map(({ subpath, file }) => ({ name: join(manifest.name, subpath), path: join(folder, file) }))
      .filter(({ name }) => !unbundled.has(name)),
  );
  const folder = await mkdtemp(join(tmpdir(), 'h-cjs-'));
  try {
    const outfile = join(folder, 'entries.cjs');
    // One bundle: what entries share is parsed once, and each is still loaded separately.
    const lines = entries.map(
      ({ name, path }) => `exports[${JSON.stringify(name)}] = () => require(${JSON.stringify(path)});`,
    );
    await build({
      stdin: { contents: lines.join('\n'), resolveDir: folder },
      outfile,
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      external: ['*.node'],
      logLevel: 'silent',
    });
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', loadAll, outfile]);
    /** @type {string[]} */
    const failures = JSON.parse(stdout);
    return failures.map((failure) => `in a CommonJS bundle: ${failure}`);
  } catch (error) {
    return [`a CommonJS bundle: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
