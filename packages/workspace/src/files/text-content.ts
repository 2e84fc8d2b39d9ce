import { isUtf8 } from 'node:buffer';

const mark = '\uFEFF';

/** The text of a file, without the parts that are restored on saving. */
export interface TextContent {
  /** Without the byte order mark; line ends are unchanged. */
  readonly text: string;
  readonly hasMark: boolean;
}

/** Decodes text; `undefined` for invalid UTF-8 or a NUL, because saving would damage it. */
export const decodeText = (bytes: Buffer): TextContent | undefined => {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  const text = bytes.toString('utf8');
  return text.startsWith(mark) ? { text: text.slice(1), hasMark: true } : { text, hasMark: false };
};

/** Encodes a text, with its byte order mark if it had one. */
export const encodeText = ({ text, hasMark }: TextContent): Buffer => Buffer.from(hasMark ? mark + text : text, 'utf8');

/** Returns the number of lines, including an unterminated last one. */
export const countLines = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return text === '' || text.endsWith('\n') ? count : count + 1;
};
