import * as z from 'zod';
import { problem } from './contract.js';
import type { Route } from './route.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Builds the OpenAPI 3.1 document of the routes from their schemas. */
export const openApiOf = (routes: readonly Route[], version: string): Json => {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = `/api/v1${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    (paths[path] ??= {})[route.method] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Station', version, description: 'Sessions, messages, approvals and events of agents.' },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: converted(problem, 'output') },
    },
  };
};

const operationOf = ({ method, path, summary, scope, query, body, status, response }: Route): Json => {
  const members = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) =>
    parameter(name, 'path', true, { type: 'string' }),
  );
  const queries = Object.entries(query instanceof z.ZodObject ? query.shape : {}).map(([name, schema]) =>
    parameter(
      name,
      'query',
      !(schema as z.ZodType).safeParse(undefined).success,
      converted(schema as z.ZodType, 'output'),
    ),
  );
  const key = method === 'post' ? [parameter('Idempotency-Key', 'header', false, { type: 'string' })] : [];
  const content: Json | undefined =
    response === undefined
      ? undefined
      : typeof response === 'string'
        ? { [response]: { schema: { type: 'string' } } }
        : { 'application/json': { schema: converted(response, 'output') } };
  return {
    summary,
    description: `Requires the scope \`${scope}\`.`,
    operationId: `${method}${path.replaceAll(/\W+(\w)/g, (_match, letter: string) => letter.toUpperCase())}`,
    parameters: [...members, ...queries, ...key],
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: converted(body, 'input') } } },
    }),
    responses: {
      [String(status)]: { description: 'Success', ...(content !== undefined && { content }) },
      default: {
        description: 'The request was refused or has failed.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
};

const parameter = (name: string, place: string, required: boolean, schema: Json): Json => ({
  name,
  in: place,
  required,
  schema,
});

/** Converts a schema. Its only recursive part is any JSON value, which generators of clients cannot express. */
const converted = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _schema, $defs: _definitions, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return JSON.parse(JSON.stringify(rest), (_name, value: Json) => (isReference(value) ? {} : value)) as Json;
};

const isReference = (value: Json): boolean =>
  typeof value === 'object' && value !== null && JSON.stringify(value).startsWith('{"$ref":"#/$defs/');
