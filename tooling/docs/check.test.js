import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('check.js', import.meta.url));

/** @type {(page: string) => Promise<{ code: number, text: string }>} */
const check = (page) =>
  new Promise((resolve) => {
    execFile(process.execPath, [script, `tooling/docs/fixtures/${page}`], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, text: `${stdout}${stderr}`.trim() }),
    );
  });

describe('the documentation check', () => {
  it('passes when every example compiles', async () => {
    expect(await check('sound.md')).toEqual({ code: 0, text: '1 examples in the documentation compile.' });
  });

  it('names the page and the line of an example that does not compile', async () => {
    const { code, text } = await check('wrong.md');
    expect(code).toBe(1);
    expect(text).toMatch(/^tooling\/docs\/fixtures\/wrong\.md:8:14: error TS2322: Type 'Observable<number>'/);
  });
});
