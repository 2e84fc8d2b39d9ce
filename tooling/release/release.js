/**
 * Rehearses the next release: new versions in a copy of the last commit, published to a registry on loopback, installed
 * in an empty project and loaded. With `--serve`, keeps that registry running instead, so that the documentation can be
 * followed before a release. With `--publish`, publishes the versions of this checkout that the registry does not have;
 * `.github/workflows/release.yml` does that with provenance.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolders } from '../packages/folders.js';
import { entriesOf, installAll, installProgram, loadEntries, supports } from './consumer.js';
import { packAll, publishAll } from './publish.js';
import { rehearse } from './rehearsal.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const log = (/** @type {string} */ line) => console.log(line);

const showRelease = async () => {
  const rehearsal = await rehearse(log);
  try {
    const manifests = rehearsal.packages.flatMap(({ manifest, isProgram }) => (isProgram ? [] : [manifest]));
    const programs = rehearsal.packages.flatMap(({ manifest, isProgram }) => (isProgram ? [manifest] : []));
    for (const [name, { from, to }] of rehearsal.versions) if (from !== to) log(`${name}  ${from} -> ${to}`);
    log('Installing all packages in an empty project …');
    const project = await installAll(rehearsal.folder, manifests, rehearsal.registry.url);
    const entries = manifests.filter((each) => supports(each, process.versions.node)).flatMap(entriesOf);
    const { problems } = await loadEntries(process.execPath, project, entries);
    for (const problem of problems) console.error(problem);
    log('Installing and starting each program …');
    for (const program of programs) await installProgram(rehearsal.folder, program, rehearsal.registry.url);
    if (problems.length > 0) process.exitCode = 1;
    else {
      const counts = `${manifests.length} packages and ${programs.length} programs`;
      log(`${counts} were published and installed, and ${entries.length} entries load.`);
    }
  } finally {
    await rehearsal.stop();
  }
  log('Nothing was published outside of this machine. See CONTRIBUTING.md for a release.');
};

const serve = async () => {
  const stopped = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
  const rehearsal = await rehearse(log);
  try {
    log(`
The next release of all packages is on ${rehearsal.registry.url}, other packages come from your usual registry.
In another terminal, npm uses it for the commands of the documentation after:

  export npm_config_registry=${rehearsal.registry.url}

Ctrl-C stops the registry and deletes it.`);
    await stopped;
    log('Deleting the registry …');
  } finally {
    await rehearsal.stop();
  }
};

/**
 * Names the repository in each package, which provenance requires. The workflow knows it, the sources do not.
 *
 * @type {(environment: NodeJS.ProcessEnv) => void}
 */
const nameRepository = ({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository }) => {
  for (const { folder } of packageFolders(root)) {
    const path = join(root, folder, 'package.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    const url = `git+${server}/${repository}.git`;
    const named = { ...manifest, repository: { type: 'git', url, directory: folder } };
    writeFileSync(path, `${JSON.stringify(named, undefined, 2)}\n`);
  }
};

const publish = async () => {
  const destination = mkdtempSync(join(tmpdir(), 'h-publish-'));
  try {
    const provenance = process.env['GITHUB_ACTIONS'] === 'true';
    if (provenance) nameRepository(process.env);
    const packed = await packAll(root, destination);
    const published = await publishAll(packed, { env: process.env, provenance, skipsExisting: true, log });
    if (published.length > 0) {
      execFileSync(process.execPath, [join(root, 'node_modules/@changesets/cli/bin.js'), 'tag'], {
        cwd: root,
        stdio: 'inherit',
      });
    }
    log(`${published.length} packages were published.`);
  } finally {
    rmSync(destination, { recursive: true, force: true });
  }
};

await (process.argv.includes('--publish') ? publish() : process.argv.includes('--serve') ? serve() : showRelease());
