import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the page of the service: `index.html`, and `approve.html` for approval links. */
export default defineConfig({
  root: folder('src/page'),
  cacheDir: folder('node_modules/.vite'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: folder('dist/page'),
    emptyOutDir: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // A data: URL would require an exception from the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: { index: folder('src/page/index.html'), approve: folder('src/page/approve.html') } },
  },
  // `vite` serves the page with hot reload beside a station started with `npm run station`.
  server: { proxy: { '/api': 'http://127.0.0.1:4700', '/a/': 'http://127.0.0.1:4700' } },
});
