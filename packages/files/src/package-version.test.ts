import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { packageVersion } from './package-version.js';

it('returns the version of the nearest package.json that has one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'version-'));
  try {
    const inner = join(folder, 'package', 'dist', 'parts');
    mkdirSync(inner, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"version":"9.9.9"}');
    writeFileSync(join(folder, 'package', 'package.json'), '{"name":"a","version":"1.2.3"}');
    writeFileSync(join(folder, 'package', 'dist', 'package.json'), '{"type":"module"}');
    expect(packageVersion(pathToFileURL(join(inner, 'main.js')).href)).toBe('1.2.3');
    expect(packageVersion(pathToFileURL(join(folder, 'main.js')).href)).toBe('9.9.9');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('ignores a package.json that is no JSON', () => {
  const folder = mkdtempSync(join(tmpdir(), 'version-'));
  try {
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'package.json'), '{"version":"9.9.9"}');
    writeFileSync(join(folder, 'dist', 'package.json'), '{');
    expect(packageVersion(pathToFileURL(join(folder, 'dist', 'main.js')).href)).toBe('9.9.9');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('is unknown in a bundle of CommonJS, which has no address', () => {
  expect(packageVersion(undefined)).toBe('unknown');
});

it('is unknown outside of any package', () => {
  expect(packageVersion('file:///none/of/these/main.js')).toBe('unknown');
});
