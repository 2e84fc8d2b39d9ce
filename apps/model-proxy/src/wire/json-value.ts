/** A JSON object of a wire format. Its members are not checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

const none: JsonObject = {};

/** Returns a JSON object as it is, and an empty object for any other value. */
export const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : none;

/** Returns an array as it is, and an empty array for any other value. */
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns a string as it is, and `undefined` for any other value. */
export const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Returns a finite number as it is, and `undefined` for any other value. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Parses JSON. Returns `undefined` for invalid JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
