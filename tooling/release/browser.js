/** Runs programs in a headless browser. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);

/** Commands of Chromium, by system. */
const commands = ['chromium', 'chromium-browser', 'google-chrome'];

/** Returns the command of an installed Chromium. @type {() => Promise<string | undefined>} */
export const findBrowser = async () => {
  for (const command of commands) {
    const found = await run(command, ['--version']).catch(() => undefined);
    if (found !== undefined) return command;
  }
  return undefined;
};

/**
 * Bundles a module for browsers, without polyfills, and runs it in a page. The module calls `done(text)`; the text is
 * returned.
 *
 * @type {(browser: string, folder: string, code: string) => Promise<string>}
 */
export const runInBrowser = async (browser, folder, code) => {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder, loader: 'js' },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
    logLevel: 'silent',
  });
  const page = join(folder, 'page.html');
  const script = (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script');
  await writeFile(
    page,
    `<!doctype html><meta charset="utf-8"><pre id="result">nothing</pre><script>
      const show = (text) => { document.getElementById('result').textContent = text; };
      globalThis.done = show;
      addEventListener('error', ({ message }) => show('error: ' + message));
      addEventListener('unhandledrejection', ({ reason }) => show('error: ' + reason));
    </script><script>${script}</script>`,
  );
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=10000', '--dump-dom'];
  const { stdout } = await run(browser, [...flags, pathToFileURL(page).href], {
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  return /<pre id="result">(?<text>[^<]*)<\/pre>/.exec(stdout)?.groups?.['text'] ?? '';
};
