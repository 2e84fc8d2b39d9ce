import { useMemo, useState } from 'preact/hooks';
import { diffOfInput } from '../state/diff.js';
import { size } from '../state/format.js';
import { commandOf } from '../state/tool-summary.js';
import { head, isDeceptive, readableJson, visible, withoutColors } from '../state/visible.js';
import { Diff } from './diff.js';

/** Lines that an output shows before a reader asks for more, and how many more each time. */
const firstLines = 24;
const moreLines = 400;
const maxCharacters = 100_000;

/**
 * The input of a call in the form that is easiest to judge: a diff, a command, or JSON. No member of it is left out.
 *
 * With `isWhole`, all of it is shown at once: a person must not approve the end of a command that is hidden.
 */
export const CallInput = ({ input, isWhole = false }: { readonly input: unknown; readonly isWhole?: boolean }) => {
  const change = diffOfInput(input);
  const command = change ? undefined : commandOf(input);
  const shown = change?.members ?? (command ? [command.member] : undefined);
  const rest = shown && Object.entries(input as object).filter(([name]) => !shown.includes(name));
  const text = command?.text ?? (typeof input === 'string' ? input : readableJson(input));
  return (
    <>
      {change ? (
        <Diff diff={change.diff} isWhole={isWhole} />
      ) : (
        <Output label="Input" text={text} isCommand={command !== undefined} isWhole={isWhole} />
      )}
      {rest && rest.length > 0 && <Output label="Other input" text={rest.map(member).join('\n')} isWhole={isWhole} />}
    </>
  );
};

const member = ([name, value]: readonly [string, unknown]): string => `${name}: ${readableJson(value)}`;

/** Plain text of a tool, cut to what a reader can take in. */
export const Output = ({
  label,
  text: whole,
  isCommand = false,
  isPrinted = false,
  isWhole = false,
}: {
  readonly label: string;
  readonly text: string;
  readonly isCommand?: boolean;
  /** A program has printed the text, so it may have colors. */
  readonly isPrinted?: boolean;
  /** Whether the text is shown without a cut. */
  readonly isWhole?: boolean;
}) => {
  const text = useMemo(() => (isPrinted ? withoutColors(whole) : whole), [whole, isPrinted]);
  const [lines, setLines] = useState(firstLines);
  const part = isWhole ? { text, isWhole } : head(text, lines, Math.min(maxCharacters, lines * 400));
  const isDone = lines * 400 > maxCharacters;
  return (
    <div class="output">
      <p class="output-label">
        {label}
        {isDeceptive(text) && <strong class="deceptive">contains characters that hide or reorder text</strong>}
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
