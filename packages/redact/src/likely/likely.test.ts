import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../index.js';

const { redact } = createRedactor();
const digits = '0123456789';
const lower = `abcdefghijklmnopqrstuvwxyz${digits}`;
const mixed = `${lower}ABCDEFGHIJKLMNOPQRSTUVWXYZ`;
const idOf = (characters: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from(characters)), minLength, maxLength });

describe('a random value that nothing calls a secret', () => {
  it.each([
    ['a document', mixed, 44, 44],
    ['an order', mixed, 20, 27],
    ['a container', lower, 20, 25],
    ['an object', `${mixed}-_`, 21, 32],
  ])('is preserved as the id of %s in a line of a log', (_, characters, min, max) => {
    fc.assert(
      fc.property(
        idOf(characters, min, max),
        fc.constantFrom(
          (id: string) => `08:21:40 INFO order ${id} paid in 12ms`,
          (id: string) => `Opened document ${id} of joe in 4 tabs`,
          (id: string) => `GET /items/list (${id} done)`,
          (id: string) => `[worker-3] job ${id} finished, 17 left`,
        ),
        (id, lineOf) => {
          expect(redact(lineOf(id))).toBe(lineOf(id));
        },
      ),
      { numRuns: 400 },
    );
  });

  it('is preserved as a checksum beside the name of a file or of its algorithm', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(32, 40, 64).chain((length) => idOf('0123456789abcdef', length, length)),
        fc.constantFrom(
          (sum: string) => `bf3140d19c23120505f44c536ac67ed8  bin/echo\n${sum}  bin/false\n`,
          (sum: string) => `${sum} *secrets/password.txt\n`,
          (sum: string) => `Description: change a password\nDescription-md5: ${sum}\n`,
          (sum: string) => `password and group data\nSHA256: ${sum}\nSize: 12\n`,
        ),
        (sum, textOf) => {
          expect(redact(textOf(sum))).toBe(textOf(sum));
        },
      ),
      { numRuns: 400 },
    );
  });

  it('is preserved as a trace', () => {
    const hex = (length: number) => idOf('0123456789abcdef', length, length);
    fc.assert(
      fc.property(hex(32), hex(16), (trace, span) => {
        const line = `08:21:40 INFO order 00-${trace}-${span}-01 paid in 12ms`;
        expect(redact(line)).toBe(line);
      }),
    );
  });
});
