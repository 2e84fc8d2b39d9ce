/**
 * Returns the entry points of a package: all exports with a source under `@h/source`.
 *
 * @type {(exports: Record<string, unknown>) => { subpath: string, source: string, types: string, file: string }[]}
 */
export const entriesOf = (exports) =>
  Object.entries(exports).flatMap(([subpath, target]) => {
    if (typeof target !== 'object' || target === null || !('@h/source' in target)) return [];
    const { '@h/source': source, types = '', default: file = '' } = /** @type {Record<string, string>} */ (target);
    return source === undefined ? [] : [{ subpath, source, types, file }];
  });
