import { describe, expect, it } from 'vitest';
import { errorInfoOf } from './failure.js';

describe('errorInfoOf', () => {
  it('reads the status and body that SDKs attach', () => {
    expect(errorInfoOf(Object.assign(new Error('No'), { statusCode: 400, responseBody: '{"x":1}' }))).toMatchObject({
      message: 'No',
      status: 400,
      body: '{"x":1}',
    });
    expect(errorInfoOf(Object.assign(new Error('No'), { status: 413 }))).toMatchObject({ status: 413 });
    expect(errorInfoOf('just text')).toEqual({ name: 'Error', message: 'just text' });
  });
});
