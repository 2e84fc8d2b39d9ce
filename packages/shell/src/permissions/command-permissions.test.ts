import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandPermissions } from './command-permissions.js';

const everydayReading = JSON.parse(
  readFileSync(new URL('../../test/everyday-reading.json', import.meta.url), 'utf8'),
) as readonly string[];

describe('allowWrite: false', () => {
  const permissions = commandPermissions({ allowWrite: false });

  it('allows every everyday line that only reads', () => {
    expect(everydayReading.length).toBeGreaterThanOrEqual(300);
    const refused = everydayReading.flatMap((line) => {
      const { decision, reason } = permissions(line, { cwd: '/work' });
      return decision === 'allow' ? [] : [`${line}  →  ${reason}`];
    });
    expect(refused).toEqual([]);
  });
});
