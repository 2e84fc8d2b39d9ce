import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError, defaultConfig, parseConfig } from './config.js';

const parse = (source: string, environment: NodeJS.ProcessEnv = {}) =>
  parseConfig(source, '/srv/guard.yaml', environment);

describe('parseConfig', () => {
  it('applies the defaults', () => {
    const { servers, ...rest } = parse('servers: { files: { command: mcp-files } }');
    expect(rest).toEqual(defaultConfig());
    expect(servers).toEqual({ files: { command: 'mcp-files', cwd: '/srv' } });
    expect(parse('')).toEqual(defaultConfig());
  });

  it.each([
    ['result: {}', /^\/srv\/guard\.yaml:1:\d+: unknown key "result"\. Did you mean "results"\?/],
    ['loops: true\nresults:\n  maxChar: 5', /:3:\d+: unknown key "results\.maxChar"\. Did you mean "maxChars"\?/],
    [
      'servers:\n  files:\n    command: x\n    evn: {}',
      /:4:\d+: unknown key "servers\.files\.evn"\. Did you mean "env"\?/,
    ],
    [
      'policy:\n  rules:\n    - tool: a\n      decision: deny\n      when: b',
      /:5:\d+: unknown key "policy\.rules\.0\.when"/,
    ],
    ['results:\n  maxChars: many', /:2:\d+: "results\.maxChars" is invalid/],
    ['policy:\n  otherwise: perhaps', /:2:\d+: "policy\.otherwise" is invalid/],
    ['servers:\n  files: {}', /:2:\d+: "servers\.files" is invalid: a server has a command or a url/],
    ['servers:\n  a__b: { command: x }', /:2:\d+: "servers\.a__b" is invalid/],
    ['loops: true\nloops: false', /:2:\d+: Map keys must be unique/],
    ['a: [', /:1:\d+: /],
    ['- a', /the content is invalid/],
  ])('rejects %j with the line and the key', (source, message) => {
    expect(() => parse(source)).toThrow(ConfigError);
    expect(() => parse(source)).toThrow(message);
  });

  it('reads variables of the environment where secrets belong', () => {
    const source = stringify({
      servers: { web: { url: 'https://x.example', headers: { authorization: 'Bearer ${TOKEN}' } } },
    });
    expect(parse(source, { TOKEN: 'abc' }).servers?.['web']?.headers).toEqual({ authorization: 'Bearer abc' });
    expect(() => parse(source)).toThrow(/:5:\d+: "servers\.web\.headers\.authorization" refers to the variable TOKEN/);
  });

  it('resolves paths from the folder of the file', () => {
    const { log, security, results } = parse(
      'log: { file: a.jsonl }\nsecurity: { pins: p.json }\nresults: { artifacts: /b }',
    );
    expect([log.file, security.pins, results.artifacts]).toEqual(['/srv/a.jsonl', '/srv/p.json', '/b']);
  });

  it('throws nothing but configuration errors', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json().map((json) => stringify(JSON.parse(json))),
          fc.string(),
        ),
        (source) => {
          try {
            parse(source);
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigError);
          }
        },
      ),
    );
  });
});
