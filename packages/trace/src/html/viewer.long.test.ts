import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { browserTests } from '../../test/browser.js';
import { sampleRecording, type SampleOptions } from '../../test/sample-recording.js';
import { buildTrace } from '../build-trace.js';
import { readTrace } from '../read-trace.js';
import { traceHtml } from './trace-html.js';

const { tab } = browserTests();
const page = (...options: readonly SampleOptions[]): string =>
  traceHtml(
    options.flatMap((each) => [...readTrace(sampleRecording(each)).turns].map(([id, lines]) => buildTrace(id, lines))),
  );

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'h-viewer-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Opens a page from a file and records its requests and errors. */
const open = async (testing: TestContext, html: string, colorScheme: 'light' | 'dark' = 'light') => {
  const file = join(folder, `${Buffer.from(testing.task.id).toString('hex')}.html`);
  writeFileSync(file, html);
  const { view, problems } = await tab(testing, { colorScheme });
  const requests: string[] = [];
  view.on('request', (asked) => requests.push(asked.url()));
  await view.goto(pathToFileURL(file).href);
  await view.waitForSelector('html[data-ready]', { state: 'attached' });
  return { view, requests, problems, file };
};
const shown = (view: Page): Promise<number> => view.locator('.row:visible').count();
const focused = (view: Page): Promise<string | null> =>
  view.evaluate("document.activeElement.querySelector('.label')?.textContent ?? document.activeElement.id");

describe('the page in a browser', () => {
  it('shows a turn offline without requests or errors', async (testing) => {
    const { view, requests, problems } = await open(testing, page({ steps: 3, tools: 2 }));
    expect(await view.title()).toBe('Turn 7f3a91c2-5b1e');
    expect(await shown(view)).toBe(1 + 3 + 4 + 4);
    expect(await view.locator('.facts').innerText()).toMatch(/Steps\s+3\s+Tool calls\s+4/);
    expect(requests.filter((url) => !url.startsWith('file:'))).toEqual([]);
    expect(requests).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  it('has sufficient contrast in light and dark', async (testing) => {
    const contrast = async (colorScheme: 'light' | 'dark'): Promise<number> => {
      const { view } = await open(testing, page({ steps: 1, tools: 1 }), colorScheme);
      const [ink, paper] = await view.evaluate<[string, string]>(
        "[getComputedStyle(document.querySelector('.time')).color, getComputedStyle(document.body).backgroundColor]",
      );
      const light = (colour: string): number => {
        const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((part) =>
          Number(part) / 255 <= 0.040_45 ? Number(part) / 255 / 12.92 : ((Number(part) / 255 + 0.055) / 1.055) ** 2.4,
        );
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const [high, low] = [light(ink), light(paper)].toSorted((left, right) => right - left);
      return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
    };
    expect(await contrast('light')).toBeGreaterThan(4.5);
    expect(await contrast('dark')).toBeGreaterThan(4.5);
  });

  it('never treats recorded data as markup or script', async (testing) => {
    const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)><!--<script>"'&\u2028 ]]>`;
    const { view, problems, requests } = await open(testing, page({ steps: 2, tools: 2, text: evil, turn: evil }));
    await view.locator('.row', { hasText: 'read' }).or(view.locator('[data-kind="tool"]')).first().click();
    expect(await view.locator('#details').innerText()).toContain(
      '<script>alert(1)</script><img src=x onerror=alert(2)>',
    );
    await view.locator('.row').first().click();
    expect(await view.locator('img').count()).toBe(0);
    expect(await view.locator('script').count()).toBe(2);
    expect(problems).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  it('is fully usable with the keyboard', async (testing) => {
    const { view } = await open(testing, page({ steps: 3, tools: 2 }));
    await view.keyboard.press('/');
    expect(await focused(view)).toBe('filter');
    await view.keyboard.press('ArrowDown');
    expect(await focused(view)).toBe('turn 7f3a91c2');
    await view.keyboard.press('ArrowRight');
    expect(await focused(view)).toBe('step 1');
    await view.keyboard.press('ArrowLeft');
    expect(await view.locator('#row-1').getAttribute('aria-expanded')).toBe('false');
    expect(await shown(view)).toBe(12 - 3);
    await view.keyboard.press('ArrowRight');
    await view.keyboard.press('ArrowDown');
    await view.keyboard.press('Enter');
    expect(await view.locator('#details').innerText()).toContain('anthropic/claude-sonnet-4-5');
    await view.keyboard.press('ArrowDown');
    expect(await view.locator('#details h2').innerText()).toMatch(/read|grep|bash|edit/);
    await view.keyboard.press('Escape');
    expect(await view.locator('#details').isVisible()).toBe(false);
    expect(await view.locator('.row[tabindex="0"]').count()).toBe(1);
    const before = await view.locator('#axis').innerText();
    await view.keyboard.press('+');
    expect(await view.locator('#axis').innerText()).not.toBe(before);
    expect(await view.locator('#window').isVisible()).toBe(true);
    await view.keyboard.press('0');
    expect(await view.locator('#axis').innerText()).toBe(before);
    await view.keyboard.press('End');
    expect(await focused(view)).toBe('anthropic/claude-sonnet-4-5 (attempt 2)');
  });

  it('filters by text and by problems, and describes the row under the mouse', async (testing) => {
    const { view } = await open(testing, page({ steps: 12, tools: 2 }));
    await view.fill('#filter', 'loop.warning');
    expect(await view.locator('#found').innerText()).toBe('1 row found');
    expect(await shown(view)).toBe(3);
    await view.fill('#filter', '');
    await view.click('#errors');
    expect(await view.locator('.row:visible[data-kind="tool"][data-status="ok"]').count()).toBe(0);
    expect(await view.locator('.row:visible[data-status="error"]').count()).toBeGreaterThan(2);
    await view.click('#errors');
    await view.locator('.row[data-kind="model"]').first().hover();
    expect(await view.locator('#tip').innerText()).toContain('tokens');
  });

  it('opens 500 steps of three tools quickly, and folds and zooms them', async (testing) => {
    const html = page({ steps: 500, tools: 3 });
    expect(html.length).toBeLessThan(3_000_000);
    const { view, problems } = await open(testing, html);
    const ready = Number(
      await view.evaluate("performance.now() - performance.getEntriesByType('navigation')[0].domInteractive"),
    );
    // On an idle machine, this takes a tenth of the limit.
    expect(ready).toBeLessThan(10_000);
    expect(await shown(view)).toBe(501);
    const axis = await view.locator('#axis').innerText();
    await view.mouse.move(600, 500);
    await view.evaluate('window.scrollTo(0, 6000)');
    await view.waitForFunction(
      (before) =>
        (
          globalThis as unknown as { document: { getElementById(id: string): { innerText: string } } }
        ).document.getElementById('axis').innerText !== before,
      axis,
    );
    await view.click('#expand');
    expect(await shown(view)).toBeGreaterThan(2000);
    await view.click('#fit');
    expect(await view.locator('#window').isVisible()).toBe(false);
    expect(problems).toEqual([]);
  });

  it('shows several turns on one axis of time', async (testing) => {
    const { view } = await open(
      testing,
      page({ steps: 1, tools: 0, turn: 'one' }, { steps: 1, tools: 0, turn: 'two' }),
    );
    expect(await view.title()).toBe('2 turns');
    expect(await view.locator('[data-kind="turn"]').allInnerTexts()).toHaveLength(2);
  });
});

describe('the page as a file', () => {
  it('has a policy against loading, sending and running anything else', () => {
    const html = page({ steps: 1, tools: 0 });
    expect(html).toMatch(
      /default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'/,
    );
    expect(html.match(/https?:\/\//g)).toBeNull();
  });

  it('shows the turn without scripts', () => {
    expect(page({ steps: 1, tools: 0, text: '<b>hi</b>' })).toMatch(
      /<noscript><pre>turn 7f3a91c2-5b1e[^]*“&lt;b&gt;hi&lt;\/b&gt;”/,
    );
  });

  it('creates a page without turns', () => {
    expect(traceHtml([])).toContain('0 turns');
  });
});
