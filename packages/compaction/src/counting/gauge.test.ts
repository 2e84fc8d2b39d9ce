import { estimateTokens } from '@h/tokens';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBound } from './gauge.js';

it('is never below the estimate', () => {
  const { text: bound } = createBound(1600);
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.base64String(),
    fc.string({ unit: fc.constantFrom('a', 'Z', '7', ' ', '\n', '-', '漢', 'é') }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(bound(text)).toBeGreaterThanOrEqual(estimateTokens(text));
    }),
  );
});
