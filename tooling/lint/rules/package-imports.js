import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';

/**
 * @typedef {{ name: string, dependencies?: Record<string, string>, peerDependencies?: Record<string, string>,
 * optionalDependencies?: Record<string, string>, devDependencies?: Record<string, string> }} Manifest
 * @typedef {{ bridges?: string[], siblings?: Record<string, string[]> }} Options
 * @typedef {{ folder: string, manifest: Manifest, rootManifest: Manifest }} Package
 */

/** @type {(path: string) => Manifest | undefined} */
const readManifest = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/** @type {(filename: string) => Package | undefined} */
const packageOf = (filename) => {
  const folder = /^(?<folder>.*[\\/]packages[\\/][^\\/]+)[\\/]/.exec(filename)?.groups?.['folder'];
  const manifest = folder === undefined ? undefined : readManifest(resolve(folder, 'package.json'));
  if (folder === undefined || manifest === undefined) return undefined;
  return { folder, manifest, rootManifest: readManifest(resolve(folder, '../../package.json')) ?? { name: '' } };
};

/** @type {(specifier: string) => string} */
const packageName = (specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** @type {(path: string) => boolean} */
const isShipped = (path) => path.startsWith('src/') && !/\.(?:test|test-d|bench)\.ts$/.test(path);

/** @type {(path: string) => boolean} */
const isForTests = (path) => !isShipped(path) || /^src\/testing[./]/.test(path);

/**
 * Returns the problem of an import; `undefined` if the import is allowed.
 *
 * @type {(specifier: string, filename: string, own: Package, options: Options) => string | undefined}
 */
const problemWith = (specifier, filename, { folder, manifest, rootManifest }, options) => {
  const path = relative(folder, filename).replaceAll(sep, '/');
  if (specifier.startsWith('.')) {
    const target = relative(folder, resolve(dirname(filename), specifier)).replaceAll(sep, '/');
    if (target.startsWith('../../tooling/vitest/') && !isShipped(path)) return undefined;
    if (target.startsWith('..')) return 'A package must not import files outside its folder.';
    return isShipped(path) && !target.startsWith('src/')
      ? 'Published code must not import files outside src.'
      : undefined;
  }
  if (specifier.startsWith('#') || isBuiltin(specifier)) return undefined;

  const name = packageName(specifier);
  if (name === manifest.name) return isShipped(path) ? 'Import own files by a relative path.' : undefined;
  if (name.startsWith('@h/')) {
    const problem = problemWithOwnScope(specifier, name, path, manifest.name, options);
    if (problem !== undefined) return problem;
  }
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = manifest;
  if (name in { ...dependencies, ...peerDependencies, ...optionalDependencies }) return undefined;
  if (!isShipped(path)) {
    return name in { ...devDependencies, ...rootManifest.devDependencies }
      ? undefined
      : `${name} is not declared in package.json.`;
  }
  return name in { ...devDependencies }
    ? `${name} is a devDependency, so the bundler would copy it into the package. Declare it as a dependency or a peer.`
    : `${name} is not a dependency or a peer of ${manifest.name}. Declare it in package.json.`;
};

/** Ground-floor packages, bottom up. Each may import the packages before it; operators may import all of them. */
export const groundFloor = [
  '@h/options',
  '@h/config',
  '@h/bounded',
  '@h/json',
  '@h/wildcard',
  '@h/redact',
  '@h/tokens',
  '@h/prices',
  '@h/provider-errors',
  '@h/process',
  '@h/files',
  '@h/paths',
  '@h/shell',
  '@h/sandbox',
];

/** @type {(specifier: string, name: string, path: string, importer: string, options: Options) => string | undefined} */
const problemWithOwnScope = (specifier, name, path, importer, { bridges = [], siblings = {} }) => {
  const floor = groundFloor.indexOf(name);
  if (floor !== -1) {
    const own = groundFloor.indexOf(importer);
    return own === -1 || own > floor
      ? undefined
      : `${importer} must not import ${name}, which is listed after it in groundFloor.`;
  }
  if (groundFloor.includes(importer)) {
    return `The ground-floor package ${importer} must not import ${name}, which does not belong to the ground floor.`;
  }
  if (name === '@h/bridge') {
    return bridges.includes(importer) ? undefined : 'Only bridges may import @h/bridge.';
  }
  if (name !== '@h/turn') {
    return siblings[importer]?.includes(name)
      ? undefined
      : `${importer} must not import its sibling ${name}. Move the shared code to a ground-floor package, or let the app pass it in.`;
  }
  if (specifier === '@h/turn' || specifier === '@h/turn/records') return undefined;
  if (specifier === '@h/turn/testing' || specifier === '@h/turn/vitest') {
    return isForTests(path) ? undefined : `Only tests may import ${specifier}.`;
  }
  if (specifier === '@h/turn/bridge') {
    return bridges.includes(importer)
      ? undefined
      : 'Only bridges may import @h/turn/bridge. Operators have no access to the runner.';
  }
  return `${specifier} is internal to @h/turn. Import an entry of its package.json.`;
};

/**
 * Enforces the boundaries between packages: a package imports only `@h/turn`, the ground floor and declared libraries.
 *
 * @type {import('../types.js').Rule}
 */
export const packageImports = {
  meta: { schema: [{ type: 'object' }] },
  create(context) {
    const own = packageOf(context.filename);
    if (own === undefined) return {};
    const options = /** @type {Options} */ (context.options[0] ?? {});

    /** @type {(source: import('../types.js').ImportSource | null) => void} */
    const check = (source) => {
      if (source?.type !== 'Literal' || typeof source.value !== 'string') return;
      const message = problemWith(source.value, context.filename, own, options);
      if (message !== undefined) context.report({ node: source, message });
    };
    return {
      ImportDeclaration: (node) => check(node.source),
      ImportExpression: (node) => check(node.source),
      ExportNamedDeclaration: (node) => check(node.source),
      ExportAllDeclaration: (node) => check(node.source),
      TSImportType: (node) => check(node.source),
    };
  },
};
