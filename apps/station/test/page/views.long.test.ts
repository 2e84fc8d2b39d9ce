import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import { describe, expect, it } from 'vitest';
import { pageTests } from './browser.js';
import { fillStation } from './scenario.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pages = pageTests();
/** With a folder in `SCREENSHOTS`, a picture of every view is stored there. */
const pictures = process.env['SCREENSHOTS'];

type Page = Awaited<ReturnType<typeof pages.open>>['view'];

interface View {
  readonly name: string;
  readonly hash: string;
  readonly ready: string;
  readonly act?: (view: Page) => Promise<void>;
}
const views: readonly View[] = [
  { name: 'sessions', hash: '#/sessions', ready: '.session' },
  { name: 'conversation', hash: '#/sessions/fix', ready: '.approval' },
  {
    name: 'tools',
    hash: '#/sessions/fix',
    ready: '.approval',
    act: async (view) => {
      for (const name of ['edit', 'git diff', 'vitest']) {
        await view.locator('.tool-head', { hasText: name }).first().press('Enter');
      }
      await view.locator('.reasoning summary').first().click();
    },
  },
  {
    name: 'timeline',
    hash: '#/sessions/fix/timeline',
    ready: '.bar-row',
    act: (view) => view.locator('.turn summary').nth(1).click(),
  },
  {
    name: 'approvals',
    hash: '#/approvals',
    ready: '.approval',
    act: async (view) => {
      await view.getByText('Audit log').click();
      await view.getByText('created a session').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'transcript',
    hash: '#/sessions/fix',
    ready: '.approval',
    act: async (view) => {
      await view.getByText('More', { exact: true }).click();
      await view.getByRole('button', { name: 'Save transcript…' }).click();
      await view.getByRole('dialog').waitFor();
    },
  },
  { name: 'lanes', hash: '#/lanes', ready: '.slot' },
  { name: 'workflows', hash: '#/workflows', ready: '.step' },
  { name: 'usage', hash: '#/usage', ready: '.chart-bar' },
  {
    name: 'new',
    hash: '#/sessions',
    ready: '.session',
    act: async (view) => {
      await view.keyboard.press('n');
      await view.locator('.agent').first().waitFor();
    },
  },
  {
    name: 'help',
    hash: '#/lanes',
    ready: '.slot',
    act: async (view) => {
      await view.keyboard.press('?');
      await view.locator('.shortcuts').waitFor();
    },
  },
];
const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;

describe('every view', () => {
  // Contrast depends on the colors and layout on the size, so two of the four combinations have both of each.
  const cases = [
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const;
  it.for(cases)('has no serious finding of axe in %s on a %s', async ([colorScheme, size], testing) => {
    const station = await pages.station(testing);
    fillStation(station, Date.now());
    const findings: string[] = [];
    for (const { name, hash, ready, act } of views) {
      const { view, problems } = await pages.open(testing, station.url, {
        colorScheme,
        viewport: sizes[size],
        reducedMotion: 'reduce',
        hash,
      });
      await view.locator(ready).first().waitFor();
      await act?.(view);
      const results = await runAxe(view);
      for (const { id, nodes } of serious(results)) {
        const causes = nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).slice(0, 3);
        findings.push(`${name} ${id}: ${causes.join(' | ')}`);
      }
      const overflow = await view.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 0) findings.push(`${name} is ${overflow} pixels wider than the window`);
      findings.push(...problems.map((problem) => `${name}: ${problem}`));
      if (pictures !== undefined) {
        mkdirSync(pictures, { recursive: true });
        await view.screenshot({ path: join(pictures, `${name}-${size}-${colorScheme}.png`) });
      }
      await view.context().close();
    }
    const { view } = await openLink(testing, station, { colorScheme, viewport: sizes[size] });
    const results = await runAxe(view);
    for (const { id } of serious(results)) findings.push(`link ${id}`);
    if (pictures !== undefined) await view.screenshot({ path: join(pictures, `link-${size}-${colorScheme}.png`) });
    expect(findings).toEqual([]);
  });
});

const runAxe = async (view: Page): Promise<AxeResults> => {
  await view.evaluate(axe);
  return view.evaluate(() =>
    (globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } }).axe.run({
      resultTypes: ['violations'],
    }),
  );
};

const serious = ({ violations }: AxeResults): AxeResults['violations'] =>
  violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');

const openLink = async (
  testing: Parameters<typeof pages.open>[0],
  station: Awaited<ReturnType<typeof pages.station>>,
  options: Parameters<typeof pages.open>[2],
) => {
  station.links.set('one', 'a1');
  const opened = await pages.open(testing, `${station.origin}/a/one`, options);
  await opened.view.locator('.approval').waitFor();
  return opened;
};
