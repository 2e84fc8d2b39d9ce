import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Sibling packages are tested from their source: no build is needed. */
const conditions = ['@h/source', 'node', 'import', 'module', 'default'];

/** With a seed, every run tries the same examples; without one, each run tries others and so finds more. */
const alias =
  process.env['PROPERTY_SEED'] === undefined
    ? {}
    : { 'fast-check': fileURLToPath(new URL('seeded-fast-check.js', import.meta.url)) };

/** Whether this is a run of the long tests: randomized, crash and load runs that take minutes. */
const isLong = process.env['TEST_LONG'] === '1';

/**
 * How often a failed test is repeated: once in CI, where `summary.js` lists each test that passed only then; never by hand.
 */
export const retry = process.env['CI'] === 'true' ? 1 : 0;

/**
 * The tests of one package: every `*.test.ts` in it, or with `TEST_LONG=1` every `*.long.test.ts`.
 *
 * Packages keep no state in modules, so their test files share them: loading all of them again for each file takes a third of
 * the time of all tests. A package that loads something heavy on demand, and tests that it does, sets `isolate: true`.
 */
export const project = ({ isolate = false } = {}) =>
  defineConfig({
    resolve: { conditions, alias },
    ssr: { resolve: { conditions } },
    test: {
      include: isLong ? ['**/*.long.test.{ts,js}'] : ['**/*.test.{ts,js}'],
      exclude: ['**/node_modules/**', '**/dist/**', '**/fixtures/**', ...(isLong ? [] : ['**/*.long.test.{ts,js}'])],
      isolate,
      retry,
      // Loading a tokenizer takes seconds when both cores are busy.
      testTimeout: isLong ? 900_000 : 30_000,
      benchmark: { include: ['**/*.bench.ts'] },
    },
  });
