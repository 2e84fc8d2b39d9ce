import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, type TestContext } from 'vitest';
import { browserTests, type OpenTab } from '../../../../packages/trace/test/browser.js';
import { FixtureStation } from './fixture-station.js';

const configFile = fileURLToPath(new URL('../../vite.config.ts', import.meta.url));
/** A lost connection is an error of the console as well. */
const ignored = /ERR_|status of [45]/u;

export interface OpenOptions extends BrowserContextOptions {
  readonly hash?: string;
}

/** Opens the page of a station in a tab without stored data. */
export const stationTabs = () => {
  const { installed, tab } = browserTests();
  const open = async (testing: TestContext, url: string, { hash, ...options }: OpenOptions = {}): Promise<OpenTab> => {
    const opened = await tab(testing, { ...options, ignored });
    await opened.view.goto(url);
    if (hash !== undefined) await opened.view.evaluate((target) => (location.hash = target), hash);
    return opened;
  };
  return { installed, open };
};

/** Builds the page once for a test file, and gives each test its own station and tabs in Chromium. */
export const pageTests = () => {
  const folder = mkdtempSync(join(tmpdir(), 'h-station-page-'));
  const { installed, open } = stationTabs();
  beforeAll(() => build({ configFile, logLevel: 'error', build: { outDir: folder } }), 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    open,
    station: async (testing: TestContext): Promise<FixtureStation> => {
      installed(testing);
      const station = await FixtureStation.open(folder);
      testing.onTestFinished(() => station.close());
      return station;
    },
  };
};
