import { unknownText } from './field.js';

/** A path from the root, without `.`, `..` and repeated slashes. Where the folder is not known neither is the path. */
export const resolvePath = (path: string, cwd: string): string => {
  const isAbsolute = path.startsWith('/') || path.startsWith(unknownText);
  const segments: string[] = [];
  for (const segment of `${isAbsolute ? '' : `${cwd}/`}${path}`.split('/')) {
    if (segment === '' || segment === '.') continue;
    // What is above an unknown folder is as unknown.
    if (segment === '..' && segments.at(-1)?.includes(unknownText) === true) {
      segments[segments.length - 1] = unknownText;
    } else if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  const text = segments.join('/');
  return text.startsWith(unknownText) ? text : `/${text}`;
};
