import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowsPath, inheritPolicy, unrestricted, type AgentPolicy } from '../index.js';
import { allowsHost, allowsTool, movePolicy, wantsApproval } from './policy.js';

const aliases = { shell: 'bash', Bash: 'bash', fetch: 'http_get' };
const given = (changes: Partial<AgentPolicy>): AgentPolicy => ({ ...unrestricted, ...changes });

describe('inheritPolicy', () => {
  it.each<[AgentPolicy['tools'], AgentPolicy['tools'] | undefined, AgentPolicy['tools']]>([
    [null, undefined, null],
    [null, ['read'], ['read']],
    [['read'], undefined, ['read']],
    [['read'], null, ['read']],
    [['read'], [], []],
    [[], null, []],
    [[], ['read'], []],
    [['read', 'grep'], ['read', 'write'], ['read']],
    [['mcp__*'], ['mcp__shop__*', 'read'], ['mcp__shop__*']],
    [['mcp__shop__buy'], ['mcp__*'], ['mcp__shop__buy']],
    [['*'], ['read'], ['read']],
    [['a*'], ['*b'], []],
    [['shell'], ['bash'], ['bash']],
    [['bash'], ['Bash', 'shell'], ['bash']],
  ])('restricts the tools %j and the wanted %j to %j', (own, wanted, expected) => {
    expect(
      inheritPolicy(given({ tools: own }), wanted === undefined ? {} : { tools: wanted }, { aliases }).tools,
    ).toEqual(expected);
  });

  it('unites denials, by all names of a tool', () => {
    const child = inheritPolicy(given({ deniedTools: ['sh*'] }), { deniedTools: ['fetch'] }, { aliases });
    expect(['bash', 'shell', 'Bash', 'http_get', 'read'].map((name) => allowsTool(child, name))).toEqual([
      false,
      false,
      true,
      false,
      true,
    ]);
    expect(['bash', 'shell', 'Bash', 'http_get', 'fetch'].map((name) => allowsTool(child, name, { aliases }))).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it('combines the stricter sandbox, the smaller amounts and all approvals', () => {
    const child = inheritPolicy(
      given({ sandbox: 'workspace-write', budget: { maxTokens: 100, maxCost: 5 }, approvals: ['bash'] }),
      {
        sandbox: 'none',
        budget: { maxTokens: 500, maxSteps: 3, maxCost: 1 },
        approvals: ['edit'],
      },
    );
    expect(child).toMatchObject({
      sandbox: 'workspace-write',
      budget: { maxTokens: 100, maxCost: 1, maxSteps: 3 },
      approvals: ['bash', 'edit'],
    });
    expect(wantsApproval(child, 'shell', { aliases })).toBe(true);
  });

  it.each<[string, boolean]>([
    ['/repo/src/a.ts', true],
    ['/repo/src', true],
    ['/repo/srcs/a.ts', false],
    ['/repo/src/../secret', false],
    ['/repo/src/keys/id', false],
    ['/', false],
  ])('lets %j be written: %j', (path, expected) => {
    const child = inheritPolicy(given({ write: ['/repo/src', '/tmp/x'], deniedPaths: ['/repo/src/keys'] }), {
      write: ['/repo'],
    });
    expect(allowsPath(child, path, 'write')).toBe(expected);
  });

  it('compares hosts regardless of case and a trailing dot', () => {
    const child = inheritPolicy(given({ hosts: ['*.Example.org'], deniedHosts: ['Secret.example.org.'] }), {
      hosts: ['api.example.ORG', 'other.org', 'secret.example.org'],
    });
    const hosts = [
      'API.example.org',
      'api.example.org.',
      'other.org',
      'www.example.org',
      'SECRET.example.org',
      'secret.example.org.',
    ];
    expect(hosts.map((host) => allowsHost(child, host))).toEqual([true, true, false, false, false, false]);
    expect(['a.org', 'a.org.'].map((host) => allowsHost(given({ deniedHosts: ['a.org'] }), host))).toEqual([
      false,
      false,
    ]);
  });

  it.each<[string, object, RegExp]>([
    ['an unknown member', { tool: ['read'] }, /unknown option "tool".* Did you mean "tools"/],
    ['a list that is a string', { tools: 'read' }, /"tools" must be .* or null; received "read"/],
    ['null where it is not allowed', { deniedTools: null }, /"deniedTools" must be/],
    ['undefined, which could mean everything', { tools: undefined }, /"tools" must be/],
    ['an unknown sandbox level', { sandbox: 'off' }, /"sandbox" must be "none" or "workspace-write" or "read-only"/],
    ['a negative amount', { budget: { maxTokens: -1 } }, /"budget.maxTokens" must be a number from 0/],
    ['a relative path', { read: ['src'] }, /"read\[0\]" must be an absolute path, not a pattern; received "src"/],
  ])('refuses %s', (_, wanted, message) => {
    expect(() => inheritPolicy(unrestricted, wanted)).toThrow(message);
  });
});

const name = fc.stringMatching(/^[ab_]{1,4}$/);
const pattern = fc.oneof(name, fc.stringMatching(/^[ab_*]{1,4}$/));
const patterns = fc.array(pattern, { maxLength: 4 });
const path = fc.array(fc.constantFrom('a', 'b', '..', 'ab'), { maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
const paths = fc.array(path, { maxLength: 3 });
const orNull = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: null });
const policies: fc.Arbitrary<AgentPolicy> = fc.record({
  tools: orNull(patterns),
  deniedTools: patterns,
  approvals: patterns,
  read: orNull(paths),
  write: orNull(paths),
  deniedPaths: paths,
  hosts: orNull(patterns),
  deniedHosts: patterns,
  sandbox: fc.constantFrom('none', 'workspace-write', 'read-only'),
  budget: fc.dictionary(fc.constantFrom('maxTokens', 'maxCost'), fc.nat()),
});
const others = fc.dictionary(name, name, { maxKeys: 3 });
const wanted = fc.record(
  Object.fromEntries(
    Object.keys(unrestricted).map((key) => [key, policies.map((policy) => policy[key as keyof AgentPolicy])]),
  ),
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<AgentPolicy>>;

describe('a child', () => {
  it('never exceeds its parent or the wanted policy', () => {
    fc.assert(
      fc.property(policies, wanted, others, name, path, (parent, asked, names, tool, file) => {
        const options = { aliases: names };
        const child = inheritPolicy(parent, asked, options);
        for (const limit of [parent, { ...unrestricted, ...asked }]) {
          if (allowsTool(child, tool, options)) expect(allowsTool(limit, tool, options)).toBe(true);
          if (wantsApproval(limit, tool, options)) expect(wantsApproval(child, tool, options)).toBe(true);
          if (allowsHost(child, tool)) expect(allowsHost(limit, tool)).toBe(true);
          for (const access of ['read', 'write'] as const) {
            if (allowsPath(child, file, access)) expect(allowsPath(limit, file, access)).toBe(true);
          }
          for (const [key, amount] of Object.entries(limit.budget)) {
            expect(child.budget[key]).toBeLessThanOrEqual(amount);
          }
          const levels = ['none', 'workspace-write', 'read-only'];
          expect(levels.indexOf(child.sandbox)).toBeGreaterThanOrEqual(levels.indexOf(limit.sandbox));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps tools that both allow by name', () => {
    const names = fc.array(name, { maxLength: 6 });
    fc.assert(
      fc.property(names, names, name, (own, asked, tool) => {
        const child = inheritPolicy(given({ tools: own }), { tools: asked });
        expect(allowsTool(child, tool)).toBe(own.includes(tool) && asked.includes(tool));
      }),
    );
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(policies, wanted, (parent, asked) => {
        const child = inheritPolicy(parent, asked);
        expect(inheritPolicy(child, asked)).toEqual(child);
        expect(inheritPolicy(child)).toEqual(child);
      }),
    );
  });
});

describe('movePolicy', () => {
  it('turns rights in a folder into rights in its copy', () => {
    const policy = given({
      read: ['/repo', '/docs'],
      write: ['/repo/src', '/tmp/out'],
      deniedPaths: ['/repo/src/keys'],
    });
    expect(movePolicy(policy, '/repo', '/copy')).toMatchObject({
      read: ['/docs', '/copy'],
      write: ['/copy/src'],
      deniedPaths: ['/copy/src/keys', '/repo/src/keys'],
    });
  });

  it.each<[AgentPolicy['write'], readonly string[]]>([
    [null, ['/copy']],
    [['/'], ['/copy']],
    [[], []],
    [['/elsewhere'], []],
  ])('makes of write %j %j', (write, expected) => {
    expect(movePolicy(given({ write }), '/repo', '/copy').write).toEqual(expected);
  });
});
