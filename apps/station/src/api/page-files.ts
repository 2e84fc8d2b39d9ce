import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';

/** The folder of the built page, from the source and from the build. */
const folders = [new URL('./page/', import.meta.url), new URL('../../dist/page/', import.meta.url)];

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

/** A path within the folder. After an empty segment, `new URL` reads an absolute path: `//etc/resolv.conf`. */
const pagePath = /^(?:\/\w[\w.-]*)+$/;

/** Returns a file of the page. Paths without an extension are views of the page. */
export const servePage = async (path: string): Promise<Response> => {
  const isFile = /\.\w+$/.test(path);
  const name = isFile ? path.slice(1) : 'index.html';
  for (const folder of isFile && !pagePath.test(path) ? [] : folders) {
    const content = await readFile(new URL(name, folder)).catch(() => undefined);
    if (!content) continue;
    const isFinal = name.startsWith('assets/');
    return new Response(new Uint8Array(content), {
      headers: {
        'content-type': mediaTypes[extname(name)] ?? 'application/octet-stream',
        'cache-control': isFinal ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    });
  }
  if (isFile) return new Response('Not found', { status: 404 });
  return new Response(missingPage, { headers: { 'content-type': 'text/html; charset=utf-8' } });
};

const missingPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Station</title>
<h1>Station</h1><p>The page is not built. Run <code>npx vite build</code> in <code>apps/station</code>.
The API is described in <a href="/openapi.json">openapi.json</a>.</p></html>
`;
