import { useState } from 'preact/hooks';
import { diffOfInput } from '../state/diff.js';
import { size } from '../state/format.js';
import { commandOf } from '../state/tool-summary.js';
import { head, isDeceptive, readableJson, visible } from '../state/visible.js';
import { Diff } from './diff.js';

/** Lines that an output shows before a reader asks for more, and how many more each time. */
const firstLines = 24;
const moreLines = 400;
const maxCharacters = 100_000;

/** The input of a call in the form that is easiest to judge: a diff, a command, or JSON. */
export const CallInput = ({ input }: { readonly input: unknown }) => {
  const diff = diffOfInput(input);
  const command = commandOf(input);
  const text = command ?? (typeof input === 'string' ? input : readableJson(input));
  const rest = restOfInput(input, diff !== undefined, command !== undefined);
  return (
    <>
      {diff ? <Diff diff={diff} /> : <Output label="Input" text={text} isCommand={command !== undefined} />}
      {rest && <Output label="Other input" text={readableJson(rest)} />}
    </>
  );
};

const shownByDiff = /^(?:path|file_?path|file|filename|edits|old.*|new.*|search|replace|content|contents|file_text)$/iu;

/** Members that a diff or a command does not show: an approval must show all of a call. */
const restOfInput = (input: unknown, isDiff: boolean, isCommand: boolean): object | undefined => {
  if ((!isDiff && !isCommand) || typeof input !== 'object' || input === null) return undefined;
  const rest = Object.entries(input).filter(
    ([name]) => !(isDiff ? shownByDiff.test(name) : ['command', 'cmd', 'script'].includes(name)),
  );
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
};

/** Plain text of a tool, cut to what a reader can take in. */
export const Output = ({
  label,
  text,
  isCommand = false,
}: {
  readonly label: string;
  readonly text: string;
  readonly isCommand?: boolean;
}) => {
  const [lines, setLines] = useState(firstLines);
  const part = head(text, lines, Math.min(maxCharacters, lines * 400));
  const isDone = lines * 400 > maxCharacters;
  return (
    <div class="output">
      <p class="output-label">
        {label}
        {isDeceptive(part.text) && <strong class="deceptive">contains characters that hide or reorder text</strong>}
      </p>
      <pre dir="ltr" tabIndex={0} role="region" aria-label={label} data-command={isCommand}>
        {isCommand && (
          <span class="prompt" aria-hidden="true">
            {'$ '}
          </span>
        )}
        {visible(part.text)}
      </pre>
      {!part.isWhole &&
        (isDone ? (
          <p class="cut">
            Shown are {size(part.text.length)} of {size(text.length)}. The transcript contains all of it.
          </p>
        ) : (
          <button type="button" class="quiet more" onClick={() => setLines(lines + moreLines)}>
            Show more of {size(text.length)}
          </button>
        ))}
    </div>
  );
};
