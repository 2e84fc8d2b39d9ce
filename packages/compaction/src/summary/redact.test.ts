import { describe, expect, it } from 'vitest';
import { redactSecrets } from './redact.js';

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ';

describe('redactSecrets', () => {
  it.each([
    ['an OpenAI key', `sk-proj-${letters}`],
    ['an Anthropic key', `sk-ant-api03-${letters}-_x`],
    ['an AWS key', 'AKIAIOSFODNN7EXAMPLE'],
    ['a GitHub token', `ghp_${letters}`],
    ['a fine-grained GitHub token', `github_pat_${letters}`],
    ['a GitLab token', `glpat-${letters}`],
    ['a Google key', `AIza${letters}`],
    ['a Slack token', 'xoxb-123456789012-abcdef'],
    ['an npm token', `npm_${letters}`],
    ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP'],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIB\nabc\n-----END RSA PRIVATE KEY-----'],
  ])('takes out %s', (_, secret) => {
    expect(redactSecrets(`before ${secret} after`)).toBe('before [redacted] after');
  });

  it.each([
    ['postgres://app:hunter2@db.local/x', 'postgres://[redacted]@db.local/x'],
    ['Authorization: Bearer abcdefghijklmnop1234', 'Authorization: Bearer [redacted]'],
    ['API_KEY=abc123def', 'API_KEY=[redacted]'],
    ['{"password":"p4ssword!"}', '{"password":"[redacted]"}'],
    ['client_secret: q1w2e3r4', 'client_secret: [redacted]'],
    ['export DB_PASSWORD="correct-horse"', 'export DB_PASSWORD="[redacted]"'],
  ])('makes of %j %j', (text, redacted) => {
    expect(redactSecrets(text)).toBe(redacted);
  });

  it.each([
    'a3f8b2c1-4e7d-4b1a-9c0d-0123456789ab',
    'd670460b4b4aece5915caf5c68d12f560a9fe3e4',
    'claude-opus-4-1-20250805-thinking',
    'risk-adjusted-returns-of-the-portfolio-2024',
    'maxTokens: 128000, tokens: 200000',
    'token: string; secret?: undefined',
    'password: process.env.PASSWORD',
    'https://example.com:8080/a@b',
    'API_KEY=$API_KEY',
  ])('leaves %j as it is', (text) => {
    expect(redactSecrets(text)).toBe(text);
  });

  it.each(['-----BEGIN PRIVATE KEY-----', 'sk-', 'token=', 'a://b:', 'bearer ', 'eyJa.', '-'])(
    'reads a megabyte of %j in one go',
    (unit) => {
      expect(redactSecrets(unit.repeat(2 ** 20 / unit.length)).length).toBeGreaterThan(0);
    },
  );
});
