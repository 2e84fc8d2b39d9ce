import { unknownText } from '../words/field.js';

/** Returns an absolute path without `.`, `..` and repeated slashes. The path is unknown if its folder is. */
export const resolvePath = (path: string, cwd: string): string => {
  const isAbsolute = path.startsWith('/') || path.startsWith(unknownText);
  const segments: string[] = [];
  for (const segment of `${isAbsolute ? '' : `${cwd}/`}${path}`.split('/')) {
    if (segment === '' || segment === '.') continue;
    // The parent of an unknown folder is unknown.
    if (segment === '..' && segments.at(-1)?.includes(unknownText) === true) {
      segments[segments.length - 1] = unknownText;
    } else if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  const text = segments.join('/');
  return text.startsWith(unknownText) ? text : `/${text}`;
};
