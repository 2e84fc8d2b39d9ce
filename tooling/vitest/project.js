import { defineConfig } from 'vitest/config';

/** Sibling packages are tested from their source: no build is needed. */
const conditions = ['@h/source', 'node', 'import', 'module', 'default'];

/** Unit tests of one package: every `*.test.ts` in it. */
export const project = () =>
  defineConfig({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      include: ['**/*.test.{ts,js}'],
      exclude: ['**/node_modules/**', '**/dist/**', '**/fixtures/**'],
      // Loading a tokenizer takes seconds when both cores are busy.
      testTimeout: 30_000,
      benchmark: { include: ['**/*.bench.ts'] },
    },
  });
