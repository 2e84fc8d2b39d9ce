import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './tooling/vitest/summary-reporter.js';

export default defineConfig({
  test: {
    projects: ['packages/*', 'apps/*', 'tooling'],
    // Without this one core of two stays idle.
    maxWorkers: '100%',
    reporters: [
      'default',
      new SummaryReporter(process.env['TEST_LONG'] === '1' ? '.cache/tests/long.json' : '.cache/tests/summary.json'),
    ],
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts', 'apps/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.bench.ts', '**/fixtures/**'],
      reporter: ['text', 'html', 'json-summary'],
    },
  },
});
