import { fileURLToPath } from 'node:url';
import { project } from './vitest/project.js';

const { test, ...config } = project();

/** The examples of the READMEs are a long test; that of `@h/postgres` needs a server. */
const globalSetup = process.env['TEST_LONG'] === '1' ? { globalSetup: '../packages/postgres/test/server.ts' } : {};

/** `bench/` is not part of the workspace and imports builds by their path; its tests use the sources, as all tests do. */
const fromSource = {
  find: /^(?:\.\.\/)+((?:packages|apps)\/[\w-]+)\/dist\/(.+)\.js$/,
  replacement: `${fileURLToPath(new URL('..', import.meta.url))}$1/src/$2.ts`,
};
const { alias = {} } = config.resolve ?? {};
const aliases = Object.entries(alias).map(([find, replacement]) => ({ find, replacement: String(replacement) }));

export default {
  ...config,
  resolve: { ...config.resolve, alias: [...aliases, fromSource] },
  test: { ...test, ...globalSetup },
};
