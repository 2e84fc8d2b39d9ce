import { project } from '../../tooling/vitest/project.js';

const { test, ...config } = project();

/**
 * Without `import`: Node applies these conditions to `require()` as well, and `pg` requires `pg-pool`. Without `module`:
 * the code of OpenTelemetry for bundlers does not run in Node.
 */
const conditions = ['@h/source', 'node', 'default'];

export default {
  ...config,
  ssr: { resolve: { conditions } },
  test: { ...test, globalSetup: '../../packages/postgres/test/server.ts' },
};
