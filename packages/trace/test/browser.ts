import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, type TestContext } from 'vitest';

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

export interface OpenTab {
  readonly view: Page;
  /** Errors of the page, of its console, and dialogs: an injected script would open one. */
  readonly problems: string[];
}
export interface TabOptions extends BrowserContextOptions {
  /** Matches lines of the console that are not problems. */
  readonly ignored?: RegExp | undefined;
}

/** Starts Chromium for the tests of a file, which are skipped where it is not installed. */
export const browserTests = () => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args });
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
  }, 60_000);
  const installed = (testing: TestContext): Browser => {
    testing.skip(browser === undefined, 'chromium is not installed');
    return browser as Browser;
  };
  return {
    installed,
    /** Opens an empty tab without stored data. It is closed when the test has finished. */
    tab: async (testing: TestContext, { ignored, ...options }: TabOptions = {}): Promise<OpenTab> => {
      const viewport = { width: 1280, height: 800 };
      const context = await installed(testing).newContext({ viewport, ...options });
      testing.onTestFinished(() => context.close());
      context.setDefaultTimeout(60_000);
      const view = await context.newPage();
      const problems: string[] = [];
      view.on('pageerror', (error) => problems.push(error.message));
      view.on('console', (line) => {
        if (line.type() === 'error' && ignored?.test(line.text()) !== true) problems.push(line.text());
      });
      view.on('dialog', (dialog) => {
        problems.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      return { view, problems };
    },
  };
};
