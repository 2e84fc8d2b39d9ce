/** A draft of JSON Schema. */
export type SchemaDraft = '4' | '7' | '2019-09' | '2020-12';

/**
 * Returns the draft that a JSON Schema is written in: the one that `$schema` names, otherwise 2020-12. Draft 6 counts as
 * draft 7, which adds to it.
 *
 * @example
 * ```ts
 * schemaDraft({ $schema: 'http://json-schema.org/draft-07/schema#' }); // '7'
 * ```
 */
export const schemaDraft = ({ $schema }: { readonly $schema?: unknown }): SchemaDraft => {
  const uri = typeof $schema === 'string' ? $schema : '';
  if (uri.includes('draft-04')) return '4';
  if (uri.includes('draft-06') || uri.includes('draft-07')) return '7';
  return uri.includes('2019-09') ? '2019-09' : '2020-12';
};
