import { dirname } from 'node:path';

/** The installation folder of Node.js, for sandboxes that only mount system folders; never a home folder. */
export const toolchain = (executable: string, home: string): readonly string[] => {
  const folder = dirname(dirname(executable));
  const isShown = folder === '/usr' || folder.startsWith('/usr/');
  const isTooMuch = folder === '/' || home === folder || home.startsWith(`${folder}/`);
  return isShown || isTooMuch ? [] : [folder];
};
