import { describe, expect, it } from 'vitest';
import { schemaDraft } from './schema-draft.js';

describe('schemaDraft', () => {
  it.each([
    ['http://json-schema.org/draft-04/schema#', '4'],
    ['http://json-schema.org/draft-06/schema#', '7'],
    ['http://json-schema.org/draft-07/schema', '7'],
    ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
    ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
    ['https://example.com/own', '2020-12'],
    [undefined, '2020-12'],
    [7, '2020-12'],
  ])('%j is draft %s', ($schema, expected) => {
    expect(schemaDraft({ $schema })).toBe(expected);
  });
});
