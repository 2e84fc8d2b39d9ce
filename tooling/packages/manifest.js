import { groundFloor } from '../lint/rules/package-imports.js';
import { entriesOf } from '../tsup/entries.js';

/**
 * @typedef {{ '@h/source'?: string, types?: string, default?: string }} Entry
 * @typedef {{
 *   name: string, version: string, private?: boolean, description?: string, license?: string, type?: string,
 *   sideEffects?: unknown, files?: string[], exports?: Record<string, Entry | string>, engines?: { node?: string },
 *   dependencies?: Record<string, string>, peerDependencies?: Record<string, string>, devDependencies?: Record<string,
 * string>, h?: { size?: Record<string, number> }, }} Manifest
 */

/** Returns the required entry for a source file. @type {(source: string) => Required<Entry>} */
const entryFor = (source) => {
  const built = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
  return { '@h/source': source, types: `${built}.d.ts`, default: `${built}.js` };
};

/** Returns the libraries that a package must declare as peers. @type {(name: string, isProgram: boolean) => string[]} */
const sharedBy = (name, isProgram) => {
  if (isProgram || groundFloor.includes(name) || name === 'create-h') return [];
  return name === '@h/turn' ? ['rxjs'] : ['rxjs', '@h/turn'];
};

/** The versions of Node that the hosts of some bridges require. */
const hostNodes = new Map([
  ['@h/mastra', '>=22.13'],
  ['@h/strands', '>=22'],
]);

/**
 * Returns the violations of the rules for package.json. All packages follow the same rules, but a program brings the
 * libraries that others share.
 *
 * @type {(manifest: Manifest, options?: { isProgram?: boolean }) => string[]}
 */
export const manifestProblems = (manifest, { isProgram = false } = {}) => {
  const { exports = {}, peerDependencies = {}, dependencies = {}, devDependencies = {} } = manifest;
  const entries = entriesOf(exports);
  const shared = sharedBy(manifest.name, isProgram);
  const node = hostNodes.get(manifest.name) ?? '>=20.19';
  /** @type {[boolean, string][]} */
  const rules = [
    [manifest.type === 'module', '"type" must be "module"'],
    [manifest.sideEffects === false, '"sideEffects" must be false'],
    [manifest.license === 'MIT', '"license" must be "MIT"'],
    [Boolean(manifest.description?.endsWith('.')), '"description" must be a sentence that ends with a full stop'],
    [manifest.engines?.node === node, `"engines.node" must be "${node}"`],
    [
      manifest.files?.includes('dist') === true && manifest.files.includes('src'),
      '"files" must include "dist" and "src"',
    ],
    [manifest.files?.includes('!src/**/*.test.ts') === true, '"files" must exclude "!src/**/*.test.ts"'],
    [exports['./package.json'] === './package.json', '"exports" must include "./package.json"'],
    [entries.length > 0, '"exports" must name the source of each entry under "@h/source"'],
    ...entries.map(
      ({ subpath, source }) =>
        /** @type {[boolean, string]} */ ([
          JSON.stringify(exports[subpath]) === JSON.stringify(entryFor(source)),
          `"exports" of "${subpath}" must be ${JSON.stringify(entryFor(source))}`,
        ]),
    ),
    ...shared.flatMap(
      (name) =>
        /** @type {[boolean, string][]} */ ([
          [name in peerDependencies && !(name in dependencies), `${name} must be a peer dependency`],
          [name in devDependencies, `${name} must also be a devDependency, so that tests find it`],
        ]),
    ),
  ];
  return rules.flatMap(([holds, rule]) => (holds ? [] : [`package.json: ${rule}`]));
};
