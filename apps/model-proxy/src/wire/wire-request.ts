import { numberOf, objectOf, stringOf, type JsonObject } from './json-value.js';
import type { FormatName } from '../calls/routes.js';

/** A model call of a client, as read from a copy of its body. */
export interface WireRequest {
  readonly format: FormatName;
  /** The body as text. */
  readonly text: string;
  readonly value: JsonObject;
  readonly model: string | undefined;
  readonly isStream: boolean;
  /** The member with the conversation. */
  readonly member: 'messages' | 'input';
  /** The entries of the conversation; a string input is one entry. */
  readonly entries: readonly unknown[];
}

/** Reads a model call. Returns `undefined` if the body is not a JSON object. */
export const readRequest = (format: FormatName, text: string): WireRequest | undefined => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const value = objectOf(parsed);
  const member = format === 'openai-responses' ? 'input' : 'messages';
  const given = value[member];
  return {
    format,
    text,
    value,
    model: stringOf(value['model']),
    isStream: value['stream'] === true,
    member,
    entries: Array.isArray(given) ? (given as readonly unknown[]) : given === undefined ? [] : [given],
  };
};

/** Average length of a token of a request, in characters: prose has 4, JSON and code have fewer. */
const charsPerToken = 3.5;

/** Estimates the tokens of a text. */
export const estimateTokens = (chars: number): number => Math.ceil(chars / charsPerToken);

/** Returns the most tokens that the answer may have, if the client limits it. */
export const maxOutputOf = ({ value }: WireRequest): number | undefined =>
  numberOf(value['max_tokens']) ?? numberOf(value['max_completion_tokens']) ?? numberOf(value['max_output_tokens']);
