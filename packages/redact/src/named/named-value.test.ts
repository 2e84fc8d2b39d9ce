import { expect, it } from 'vitest';
import { createRedactor } from '../index.js';

const { redact } = createRedactor();

it.each([
  '{"name": "DB_PASSWORD", "value": true, "sensitive": true}',
  'name: API_KEY\nvalue: false\n',
  "Object.defineProperty(exports, 'password', { value: true });",
])('preserves the boolean in %j', (text) => {
  expect(redact(text)).toBe(text);
});

// Values that begin like a boolean.
it.each(['tr7ueQx9Kd2', 'truA8x2kPq9z', 'f4lseWx91kQ', 't', 'fals3_Zk81xQ'])('finds %s beside its name', (start) => {
  const value = `${start}${start.length > 4 ? '' : 'R8xk21PqZ9'}`;
  const texts = [`{"name": "DB_PASSWORD", "value": "${value}"}`, `- name: DB_PASSWORD\n  value: ${value}\n`];
  for (const text of texts) expect(redact(text)).toBe(text.replace(value, '[redacted]'));
});
