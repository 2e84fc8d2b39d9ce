/** The messages of a server program: one JSON value a line. */
export interface MessageLines {
  /** Reads a chunk of the program's output. */
  write(chunk: Uint8Array): void;
}

/** Receives the lines of a server program. */
export interface LineHandlers {
  readonly onLine: (line: string) => void;
  /**
   * Called at the end of a line that was too long, with its first and its last characters. The line itself was not
   * stored.
   */
  readonly onTooLong: (start: string, end: string) => void;
}

const newline = 10;
/** Characters that are stored of a line that is too long. JSON-RPC ids are in the first or the last ones. */
const edge = 256;

/** Splits the output of a program into lines, in memory that is bounded by `maxBytes` and in linear time. */
export const messageLines = (maxBytes: number, { onLine, onTooLong }: LineHandlers): MessageLines => {
  let chunks: Uint8Array[] = [];
  let size = 0;
  /** The edges of the current line, if it is too long. */
  let skipped: { readonly start: string; end: Uint8Array } | undefined;

  const add = (chunk: Uint8Array): void => {
    if (skipped !== undefined) {
      const tail = Buffer.concat([skipped.end, chunk.subarray(-edge)]);
      skipped.end = tail.subarray(-edge);
      return;
    }
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size <= maxBytes) return;
    const whole = Buffer.concat(chunks);
    skipped = { start: whole.toString('utf8', 0, edge), end: Buffer.from(whole.subarray(-edge)) };
    chunks = [];
  };
  const finish = (): void => {
    if (skipped !== undefined) onTooLong(skipped.start, Buffer.from(skipped.end).toString());
    else if (size > 0) onLine(Buffer.concat(chunks).toString());
    chunks = [];
    size = 0;
    skipped = undefined;
  };
  return {
    write: (chunk) => {
      let from = 0;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        if (at > from) add(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      if (from < chunk.byteLength) add(chunk.subarray(from));
    },
  };
};
