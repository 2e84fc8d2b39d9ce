import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inOrder } from './publish.js';

/** Returns a package that needs others. @type {(name: string, needs: readonly string[], peers?: readonly string[]) => import('./publish.js').Manifest} */
const manifest = (name, needs, peers = []) => ({
  name,
  version: '1.0.0',
  exports: {},
  engines: { node: '>=20' },
  dependencies: Object.fromEntries(needs.map((need) => [need, '^1.0.0'])),
  peerDependencies: Object.fromEntries(peers.map((need) => [need, '^1.0.0'])),
});

describe('inOrder', () => {
  it('puts each package behind those that it needs, for any packages without cycles', () => {
    const graph = fc
      .array(fc.array(fc.nat(), { maxLength: 4 }), { maxLength: 20 })
      .map((needs) =>
        needs.map((targets, index) =>
          manifest(`p${index}`, index === 0 ? [] : targets.map((target) => `p${target % index}`)),
        ),
      );
    fc.assert(
      fc.property(graph, fc.gen(), (manifests, gen) => {
        const shuffled = manifests.toSorted(() => gen(fc.integer, { min: -1, max: 1 }));
        const names = inOrder(shuffled).map(({ name }) => name);
        expect(names.toSorted()).toEqual(manifests.map(({ name }) => name).toSorted());
        for (const { name, dependencies = {} } of manifests) {
          for (const need of Object.keys(dependencies)) expect(names.indexOf(need)).toBeLessThan(names.indexOf(name));
        }
      }),
    );
  });

  it('counts peers, ignores other libraries and ends for cycles', () => {
    const names = inOrder([manifest('a', ['rxjs'], ['b']), manifest('b', ['a'])]).map(({ name }) => name);
    expect(names).toEqual(['b', 'a']);
  });
});
