/**
 * The `AGENTS.md` of each package, which tells a coding agent what the package is, where its parts are and how to test
 * it. `node tooling/docs/agents.js` writes the files.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { groundFloor } from '../lint/rules/package-imports.js';
import { entriesOf } from '../tsup/entries.js';
import { root } from './pages.js';

/** Exports of one file that are listed. */
const maxNames = 6;

const exportedName = /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|class) (?<name>[\w$]+)/gm;

const exportedList = /^export (?:type )?\{(?<names>[^}]*)\} from '(?<path>[^']+)'/gm;

/** Returns the values that a source file exports. @type {(code: string) => string[]} */
const exportsOf = (code) => [...code.matchAll(exportedName)].map(({ groups }) => groups?.['name'] ?? '');

/**
 * Returns which exports of a source file a package makes public.
 *
 * @type {(entries: readonly { path: string, code: string }[], file: string, code: string) => string[]}
 */
const publicExports = (entries, file, code) =>
  exportsOf(code).filter((name) =>
    entries.some(
      (entry) =>
        entry.path === file ||
        entry.code.includes(`export * from '${relativeTo(entry.path, file)}'`) ||
        namesFrom(entry.code, relativeTo(entry.path, file)).includes(name),
    ),
  );

/** Returns the names that an entry exports from a file. @type {(code: string, path: string) => string[]} */
const namesFrom = (code, path) =>
  [...code.matchAll(exportedList)]
    .filter(({ groups }) => groups?.['path'] === path)
    .flatMap(({ groups }) => groups?.['names']?.split(',') ?? [])
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*$/, ''),
    );

/** @type {(from: string, to: string) => string} */
const relativeTo = (from, to) => {
  const path = posix.relative(posix.dirname(from), to).replace(/\.tsx?$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
};

/** Returns the source files of a folder, without tests and fixtures. @type {(folder: string) => string[]} */
const sourcesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.tsx?$/.test(file) && !/\.(?:test|test-d|bench|d)\.ts$|(?:^|\/)fixtures\//.test(file))
    .toSorted();

/** @type {(names: readonly string[]) => string} */
const namesOf = (names) => {
  const shown = names.slice(0, maxNames).map((name) => `\`${name}\``);
  return names.length > maxNames ? `${shown.join(', ')} and ${names.length - maxNames} more` : shown.join(', ');
};

/** @type {(folder: string, name: string) => string[]} */
const rulesOf = (folder, name) => [
  groundFloor.includes(name)
    ? 'A ground-floor package: it imports only ground-floor packages that are listed before it in `tooling/lint/rules/package-imports.js`, never `@h/turn`.'
    : 'It imports ground-floor packages and the libraries of its package.json; siblings only where `.oxlintrc.json` allows it.',
  'No module state, no `any`, no default exports. Time comes from events or a scheduler, randomness from an option.',
  'An invalid option is an error that names the option, the value and the fix: `checkOptions` of `@h/options`.',
  ...(existsSync(`${folder}/test`) && readdirSync(`${folder}/test`).length > 0
    ? ['`test/` has the drivers and fixtures that several tests share.']
    : []),
];

/** Returns the text of `AGENTS.md` for a package. @type {(name: string) => string} */
export const agentsPage = (name) => {
  const folder = `${root}/packages/${name}`;
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const entries = entriesOf(manifest.exports ?? {});
  const sources = entries.map(({ source }) => {
    const path = source.replace('./src/', '');
    return { path, code: readFileSync(`${folder}/src/${path}`, 'utf8') };
  });
  const files = sourcesIn(`${folder}/src`).map((file) => ({
    file,
    names: publicExports(sources, file, readFileSync(`${folder}/src/${file}`, 'utf8')),
  }));
  const internal = files.filter(({ file, names }) => names.length === 0 && sources.every(({ path }) => path !== file));
  return [
    `# ${manifest.name}`,
    '',
    manifest.description,
    'The [README](README.md) has an example and the limits, and [docs/options.md](../../docs/options.md) all options.',
    '',
    ...(entries.length === 0
      ? []
      : [
          '| import | source |',
          '|---|---|',
          ...entries.map(
            ({ subpath, source }) => `| \`${manifest.name}${subpath.slice(1)}\` | \`${source.replace('./', '')}\` |`,
          ),
          '',
        ]),
    '## Files',
    '',
    '| file | public exports |',
    '|---|---|',
    ...files.flatMap(({ file, names }) => (names.length === 0 ? [] : [`| \`src/${file}\` | ${namesOf(names)} |`])),
    '',
    ...(internal.length === 0 ? [] : [`Internal: ${internal.map(({ file }) => `\`${file}\``).join(', ')}.`, '']),
    '## Checks',
    '',
    'Run from the root of the repository, after `npm run setup`:',
    '',
    '```sh',
    `npx vitest run --project ${manifest.name}   # tests; they need no build`,
    'npm run typecheck',
    `npm run lint -- packages/${name}`,
    `npx oxfmt packages/${name}`,
    '```',
    '',
    '## Rules',
    '',
    ...rulesOf(folder, manifest.name).map((rule) => `- ${rule}`),
    '',
  ].join('\n');
};

const pathOf = (/** @type {string} */ name) => `${root}/packages/${name}/AGENTS.md`;

const packageNames = () =>
  readdirSync(`${root}/packages`).filter((name) => existsSync(`${root}/packages/${name}/package.json`));

const isCurrent = (/** @type {string} */ name) =>
  existsSync(pathOf(name)) && readFileSync(pathOf(name), 'utf8') === agentsPage(name);

/** Returns the packages whose `AGENTS.md` is missing or not current. @type {() => string[]} */
export const agentsProblems = () =>
  packageNames()
    .filter((name) => !isCurrent(name))
    .map((name) => `packages/${name}/AGENTS.md is not current. Run: npm run docs:agents`);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outdated = packageNames().filter((name) => !isCurrent(name));
  for (const name of outdated) writeFileSync(pathOf(name), agentsPage(name));
  console.log(`${outdated.length} files were written.`);
}
