import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { isAtLeast } from './newer-node.js';

/**
 * Resolves sibling packages to their sources, so that tests require no build, and libraries as Node does: the code that
 * some have for bundlers (`module`) does not run in Node. Vite adds `import` or `require`.
 */
const conditions = ['@h/source', 'node', 'default'];

const alias = { 'fast-check': fileURLToPath(new URL('fast-check.js', import.meta.url)) };

/** Whether to run the long tests: randomized, crash and load tests that take minutes. */
const isLong = process.env['TEST_LONG'] === '1';
/** Whether to run the live tests, which call real providers. */
const isLive = process.env['H_LIVE_TEST'] === '1';
const special = ['**/*.long.test.{ts,js}', '**/*.live.test.{ts,js}'];

/**
 * Number of retries of a failed test: one in CI, where `summary.js` lists flaky tests, and none otherwise.
 */
export const retry = process.env['CI'] === 'true' ? 1 : 0;

/**
 * Returns the test project of one package: all `*.test.ts` files, or all `*.long.test.ts` files with `TEST_LONG=1`, or all
 * `*.live.test.ts` files with `H_LIVE_TEST=1`.
 *
 * Test files share loaded modules, because modules contain no state; loading them per file takes a third of the test
 * time. A package that tests lazy loading sets `isolate: true`.
 *
 * A package whose host needs a newer Node names it as `newerNode`, with its folder. On an older one,
 * `newer-node.relay.js` runs the tests in a Node from npm and reports their results as its own.
 *
 * @param {{ readonly isolate?: boolean, readonly newerNode?: NewerNode }} [options]
 *
 * @typedef {{ readonly minimum: string, readonly folder: string }} NewerNode
 */
export const project = ({ isolate = false, newerNode } = {}) => {
  if (newerNode && !isAtLeast(process.versions.node, newerNode.minimum)) return relay(newerNode.folder);
  return defineConfig({
    resolve: { conditions, alias },
    ssr: { resolve: { conditions } },
    test: {
      include: isLive ? special.slice(1) : isLong ? special.slice(0, 1) : ['**/*.test.{ts,js}'],
      exclude: ['**/node_modules/**', '**/dist/**', '**/fixtures/**', ...(isLong || isLive ? [] : special)],
      isolate,
      retry,
      // Libraries are loaded by Node, as other libraries load them. Vitest otherwise decides for each one, and a library
      // that it loads itself exists twice: a `Command` of LangGraph is then none for LangChain, which starts a new run.
      server: { deps: { external: [/\/node_modules\/.*\.[cm]?js$/] } },
      // Loading a tokenizer takes seconds when both cores are busy.
      testTimeout: isLong ? 900_000 : isLive ? 180_000 : 60_000,
      // Removing an installation of thousands of files takes more than the 10 s of Vitest on a busy disk.
      hookTimeout: isLong ? 180_000 : 60_000,
      benchmark: { include: ['**/*.bench.ts'] },
    },
  });
};

/** @type {(folder: string) => import('vitest/config').ViteUserConfig} */
const relay = (folder) =>
  defineConfig({
    test: {
      dir: fileURLToPath(new URL('.', import.meta.url)),
      include: ['newer-node.relay.js'],
      env: { H_RELAYED: folder },
    },
  });
