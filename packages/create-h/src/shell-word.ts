const plain = /^[\p{L}\p{N}_./@+:,=-]+$/u;

/** Returns a path as a word that a shell reads as this path: of POSIX, or of Windows, where no path contains a quote. */
export const shellWord = (path: string, platform: NodeJS.Platform = process.platform): string => {
  if (platform === 'win32') return /^[\p{L}\p{N}_.\\:-]+$/u.test(path) ? path : `"${path}"`;
  return plain.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
};
