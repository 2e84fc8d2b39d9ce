import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, type TestContext } from 'vitest';
import { FixtureStation } from './fixture-station.js';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const configFile = fileURLToPath(new URL('../../vite.config.ts', import.meta.url));

export interface OpenPage {
  readonly view: Page;
  /** Errors of the page, of its console, and dialogs: an injected script would open one. */
  readonly problems: string[];
}
export interface OpenOptions extends BrowserContextOptions {
  readonly hash?: string;
}

/** Builds the page once for a test file, and gives each test its own station and tabs in Chromium. */
export const pageTests = () => {
  const folder = mkdtempSync(join(tmpdir(), 'h-station-page-'));
  let browser: Browser | undefined;
  beforeAll(async () => {
    await build({ configFile, logLevel: 'error', build: { outDir: folder } });
    if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    station: async (testing: TestContext): Promise<FixtureStation> => {
      testing.skip(browser === undefined, 'chromium is not installed');
      const station = await FixtureStation.open(folder);
      testing.onTestFinished(() => station.close());
      return station;
    },
    /** Opens the page in a browser without stored data. */
    open: async (testing: TestContext, url: string, { hash, ...options }: OpenOptions = {}): Promise<OpenPage> => {
      testing.skip(browser === undefined, 'chromium is not installed');
      const context = await (browser as Browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
      testing.onTestFinished(() => context.close());
      context.setDefaultTimeout(60_000);
      const view = await context.newPage();
      const problems: string[] = [];
      view.on('pageerror', (error) => problems.push(error.message));
      // A lost connection is an error of the console as well.
      view.on(
        'console',
        (line) => line.type() === 'error' && !/ERR_|status of [45]/u.test(line.text()) && problems.push(line.text()),
      );
      view.on('dialog', (dialog) => {
        problems.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      await view.goto(url);
      if (hash !== undefined) await view.evaluate((target) => (location.hash = target), hash);
      return { view, problems };
    },
  };
};
