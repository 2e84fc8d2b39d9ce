import { isUtf8 } from 'node:buffer';

const mark = '\uFEFF';

/** The text of a file, without the parts that are restored when it is saved. */
export interface TextContent {
  /** Without the byte order mark; line ends as they are. */
  readonly text: string;
  readonly hasMark: boolean;
}

/** The text that these bytes are, or `undefined` if they are not valid UTF-8 or hold a NUL: saving would damage them. */
export const decodeText = (bytes: Buffer): TextContent | undefined => {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  const text = bytes.toString('utf8');
  return text.startsWith(mark) ? { text: text.slice(1), hasMark: true } : { text, hasMark: false };
};

/** The bytes of a text, with its mark if it had one. */
export const encodeText = ({ text, hasMark }: TextContent): Buffer => Buffer.from(hasMark ? mark + text : text, 'utf8');

/** How many lines a text has; an unfinished last one counts. */
export const countLines = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return text === '' || text.endsWith('\n') ? count : count + 1;
};
