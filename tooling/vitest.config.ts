import { project } from './vitest/project.js';

const { test, ...config } = project();

/** The examples of the READMEs are a long test; that of `@h/postgres` needs a server. */
const globalSetup = process.env['TEST_LONG'] === '1' ? { globalSetup: '../packages/postgres/test/server.ts' } : {};

export default { ...config, test: { ...test, ...globalSetup } };
