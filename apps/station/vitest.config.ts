import { project } from '../../tooling/vitest/project.js';

const { test, ...config } = project({ isolate: true, asNode: true });

/** Without `import`: Node applies these conditions to `require()` as well, and `pg` requires `pg-pool`. */
const conditions = ['@h/source', 'node', 'module', 'default'];

export default {
  ...config,
  ssr: { resolve: { conditions } },
  test: { ...test, globalSetup: '../../packages/postgres/test/server.ts' },
};
