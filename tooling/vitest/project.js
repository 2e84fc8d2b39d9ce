import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Sibling packages are tested from their source: no build is needed. */
const conditions = ['@h/source', 'node', 'import', 'module', 'default'];

/** Without a seed every run tries other examples, and so finds more; with one it says of two changes which has broken something. */
const alias =
  process.env['PROPERTY_SEED'] === undefined
    ? {}
    : { 'fast-check': fileURLToPath(new URL('seeded-fast-check.js', import.meta.url)) };

/**
 * Unit tests of one package: every `*.test.ts` in it.
 *
 * Packages keep no state in modules, so their test files may share them: loading all of them anew for each file takes a third
 * of the time of all tests. A package that loads something heavy on demand, and tests that it does, says `isolate: true`.
 */
export const project = ({ isolate = false } = {}) =>
  defineConfig({
    resolve: { conditions, alias },
    ssr: { resolve: { conditions } },
    test: {
      include: ['**/*.test.{ts,js}'],
      exclude: ['**/node_modules/**', '**/dist/**', '**/fixtures/**'],
      isolate,
      // Loading a tokenizer takes seconds when both cores are busy.
      testTimeout: 30_000,
      benchmark: { include: ['**/*.bench.ts'] },
    },
  });
