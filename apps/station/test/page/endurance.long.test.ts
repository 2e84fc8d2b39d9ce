import { describe, expect, it } from 'vitest';
import { pageTests } from './browser.js';
import { blankSession } from './fixture-station.js';
import { entry, text, tool } from './scenario.js';

const pages = pageTests();
const messages = 5000;
/** After this number of frames the end of a long session counts as not reached. */
const maxFrames = 600;

const longSession = Array.from({ length: messages }, (_, index) =>
  index % 2 === 0
    ? entry(index, 'user', [text(`Question ${index}`)], index, `t-${index >> 1}`)
    : entry(
        index,
        'assistant',
        [
          text(`Answer ${index}\n\n${'Some **words** of an answer. '.repeat(index % 17)}`),
          ...(index % 3 === 0 ? [tool(`c${index}`, 'read', { path: `src/file-${index}.ts` })] : []),
        ],
        index,
        `t-${index >> 1}`,
      ),
);

describe('a session of 5,000 messages', () => {
  it('scrolls to the end, loads what is looked at, and stays where the reader is', async (testing) => {
    const station = await pages.station(testing);
    station.add(blankSession('s', { title: 'Long', messages }), longSession);
    const { view, problems } = await pages.open(testing, station.url, { hash: '#/sessions/s' });
    await view.getByText(`Question ${messages - 2}`, { exact: true }).waitFor();
    expect(await view.locator('.row').count()).toBeLessThan(80);

    const times: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      await view.locator('.list').evaluate((list, place) => (list.scrollTop = place), round * 9000);
      await expect.poll(() => view.locator('.placeholder').count()).toBe(0);
      times.push(
        await view.evaluate(
          async ([last, limit]) => {
            const list = document.querySelector('.list');
            const began = performance.now();
            for (let frame = 0; frame < limit; frame += 1) {
              // Rows are measured when they are shown, so the end moves once more.
              if (list) list.scrollTop = list.scrollHeight;
              await new Promise(requestAnimationFrame);
              const row = document.querySelector(`[data-index="${last}"]`);
              const [inside, outside] = [row?.getBoundingClientRect(), list?.getBoundingClientRect()];
              if (inside && outside && inside.bottom <= outside.bottom + 30 && !row?.querySelector('.placeholder')) {
                return performance.now() - began;
              }
            }
            throw new Error('The end of the session is not shown.');
          },
          [messages - 1, maxFrames] as const,
        ),
      );
    }
    const sorted = times.toSorted((left, right) => left - right);
    console.log(
      `scroll to the end of ${messages} messages: median ${sorted[6]?.toFixed(0)} ms, best ${sorted[0]?.toFixed(0)} ms, worst ${sorted.at(-1)?.toFixed(0)} ms`,
    );

    // What arrives at the end does not move a reader who is elsewhere.
    await view.locator('.list').evaluate((list) => (list.scrollTop = 100_000));
    await expect.poll(() => view.locator('.placeholder').count()).toBe(0);
    const visible = () =>
      view.locator('.list').evaluate((list) => {
        const top = list.getBoundingClientRect().top;
        const row = [...list.querySelectorAll<HTMLElement>('.row')].find(
          (each) => each.getBoundingClientRect().bottom > top,
        );
        return [row?.dataset['index'], Math.round((row?.getBoundingClientRect().top ?? 0) - top)];
      });
    // Rows move until those above them are measured.
    let before = await visible();
    const hasMoved = async (): Promise<boolean> => {
      const last = before;
      before = await visible();
      return last[0] !== before[0] || last[1] !== before[1];
    };
    await expect.poll(hasMoved).toBe(false);
    for (let index = 0; index < 50; index += 1) {
      station.emit('s', {
        type: 'history.append',
        turn: 't-x',
        at: 1,
        messages: [{ role: 'user', content: `late ${index}` }],
      });
    }
    await expect.poll(() => view.locator('.row').first().getAttribute('aria-setsize')).toBe(String(messages + 50));
    expect(await visible()).toEqual(before);
    await view.getByRole('button', { name: 'Latest' }).click();
    await view.getByText('late 49', { exact: true }).waitFor();
    expect(problems).toEqual([]);
  });

  it('follows an answer of 20,000 deltas and stays responsive', async (testing) => {
    const station = await pages.station(testing);
    station.add(blankSession('s', { title: 'Stream', state: 'running', turn: 't' }), longSession.slice(0, 200));
    const { view, problems } = await pages.open(testing, station.url, { hash: '#/sessions/s' });
    await view.getByText('Question 198', { exact: true }).waitFor();
    await expect.poll(() => station.openStreams).toBe(2);
    station.emit('s', { type: 'model.request', turn: 't', at: 1, step: 1, attempt: 1 });
    for (let index = 0; index < 20_000; index += 1) {
      station.emit('s', {
        type: 'model.delta',
        turn: 't',
        at: 1,
        step: 1,
        attempt: 1,
        delta: { type: 'text', text: index % 40 === 39 ? '\n\n' : `w${index} ` },
      });
    }
    await view.getByText('w19998').waitFor();
    const distance = await view
      .locator('.list')
      .evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
    expect(distance).toBeLessThan(40);
    expect(problems).toEqual([]);
  });

  it('reads on after the computer slept, and after a silent connection', async (testing) => {
    const station = await pages.station(testing);
    station.add(blankSession('s', { title: 'Sleep' }), longSession.slice(0, 4));
    const { view } = await pages.open(testing, 'about:blank');
    await view.clock.install();
    await view.goto(station.url);
    await view.evaluate(() => (location.hash = '#/sessions/s'));
    await view.getByText('Question 2', { exact: true }).waitFor();
    const connections = (): number => station.requests.filter((request) => request.endsWith('/events')).length;
    await expect.poll(connections).toBe(2);
    // The timers of a computer that sleeps fire once, late.
    await view.clock.fastForward(3_600_000);
    await expect.poll(connections).toBeGreaterThanOrEqual(4);
    station.emit('s', { type: 'history.append', turn: 't', at: 1, messages: [{ role: 'user', content: 'awake' }] });
    await view.clock.runFor(1000);
    await view.getByText('awake', { exact: true }).waitFor();
    const before = connections();
    await view.clock.runFor(60_000);
    await expect.poll(connections).toBeGreaterThan(before);
  });
});
