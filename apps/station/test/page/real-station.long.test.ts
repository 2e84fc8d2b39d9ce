import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/arguments.js';
import { startProgram } from '../../src/program.js';
import { pageTests } from './browser.js';
import { picture } from './scenario.js';

const pages = pageTests();
const patienceMs = 120_000;
const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
};

/** Answers requests for files of the page from the build of this test, with the headers that the service sends. */
const serveBuild = (view: Page): Promise<unknown> =>
  view.context().route(/^http:\/\/127\.0\.0\.1:\d+\/(?:$|\?|a\/|[\w/-]+\.\w+$)/u, async (route) => {
    const request = route.request();
    const isLink = new URL(request.url()).pathname.startsWith('/a/');
    const path = isLink ? 'approve.html' : new URL(request.url()).pathname.slice(1) || 'index.html';
    const mediaType = mediaTypes[path.split('.').at(-1) ?? ''];
    if ((isLink && !request.isNavigationRequest()) || mediaType === undefined) return route.continue();
    const body = readFileSync(join(pages.folder, path));
    if (!request.isNavigationRequest()) return route.fulfill({ contentType: mediaType, body });
    // The service may close an idle connection at the moment when a request is sent on it. A browser sends it again.
    const response = await route.fetch({ maxRetries: 3 });
    return route.fulfill({ response, status: 200, contentType: mediaType, body });
  });

describe('the page with the service', () => {
  it('shows the demonstration, decides by link, sends a picture, and returns after a restart', async (testing) => {
    const data = mkdtempSync(join(tmpdir(), 'h-station-real-'));
    const start = () =>
      startProgram(parseArguments(['--port', '0', '--data', data, '--demo']), {
        say: () => undefined,
        warn: () => undefined,
      });
    let program = await start();
    testing.onTestFinished(async () => {
      await program.close();
      rmSync(data, { recursive: true, force: true });
    });
    const { view, problems } = await pages.open(testing, 'about:blank');
    // The demonstration runs while others use the machine.
    view.context().setDefaultTimeout(patienceMs);
    await serveBuild(view);
    await view.goto(program.url ?? '');

    await view.getByRole('link', { name: /Release version/u }).click();
    await view.locator('.approval').getByText('production').first().waitFor();
    const link = view.locator('.link-field');
    await view.getByRole('button', { name: 'Copy link' }).click();
    await link.waitFor();
    const phone = await view.context().newPage();
    await phone.setViewportSize({ width: 390, height: 844 });
    await phone.goto(await link.inputValue());
    await phone.getByRole('button', { name: 'Allow once' }).click();
    await phone.getByText('The call is approved').waitFor();
    await phone.reload();
    await phone.getByRole('alert').waitFor();
    await phone.close();
    await view.locator('.approval').waitFor({ state: 'detached' });
    await view.locator('.tool', { hasText: 'deploy' }).locator('[data-state=ok]').waitFor();

    await view.getByRole('link', { name: /build hangs/u }).click();
    await view.getByText('Stopped in a loop').first().waitFor({ timeout: 300_000 });
    await view.getByRole('link', { name: 'Timeline' }).click();
    await view.locator('.mark-list [data-kind=loop]').first().waitFor();

    await view.getByRole('link', { name: /payment client/u }).click();
    await view.getByText('All 48 tests pass', { exact: false }).waitFor({ timeout: 300_000 });
    const shown = await view.locator('.markdown').allInnerTexts();
    await view.reload();
    await view.getByText('All 48 tests pass', { exact: false }).waitFor();
    expect(await view.locator('.markdown').allInnerTexts()).toEqual(shown);
    await view.getByRole('link', { name: 'Timeline' }).click();
    await view.locator('.mark-list [data-kind=failover]').first().waitFor();

    await view.keyboard.press('n');
    await view.getByLabel('First message').fill('Summarize the open issues');
    await view.getByRole('button', { name: 'Create session' }).click();
    await view.locator('.entry[data-role=user]').getByText('Summarize the open issues').waitFor();
    await view.locator('.entry[data-role=assistant] .markdown').first().waitFor();
    const png = { name: 'dot.png', mimeType: 'image/png', buffer: picture };
    await view.locator('input[type=file]').setInputFiles(png);
    await view.getByLabel('Message', { exact: true }).fill('Look at this');
    await view.getByRole('button', { name: 'Send' }).click();
    await expect
      .poll(
        () =>
          view
            .locator('.picture img')
            .evaluateAll((all) => all.map((image) => (image as HTMLImageElement).naturalWidth)),
        { timeout: patienceMs },
      )
      .toEqual([320]);
    const { hash } = new URL(view.url());
    await view.keyboard.press('Escape');
    await view.keyboard.press('5');
    await view.locator('.chart-bar span').first().waitFor();
    await view.keyboard.press('3');
    await view.getByText(/slots? in use/u).waitFor();

    await program.close();
    await view.locator('.connection[data-connection=offline]').waitFor();
    program = await start();
    await view.goto(program.url ?? '');
    await view.evaluate((target) => (location.hash = target), hash);
    await view.locator('.entry[data-role=user]').getByText('Summarize the open issues').waitFor();
    expect(problems).toEqual([]);
  });
});
