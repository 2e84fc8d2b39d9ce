import { useState } from 'preact/hooks';
import type { FileDiff } from '../state/diff.js';
import { visible } from '../state/visible.js';

const firstLines = 300;
const moreLines = 2000;
const signs = { added: '+', removed: '−', same: ' ', gap: '⋯' } as const;
const names = { added: 'added', removed: 'removed', same: undefined, gap: undefined } as const;

/** The change of a file, line by line. */
export const Diff = ({ diff, isWhole = false }: { readonly diff: FileDiff; readonly isWhole?: boolean }) => {
  const [lines, setLines] = useState(isWhole ? Infinity : firstLines);
  const shown = diff.lines.slice(0, lines);
  return (
    <figure class="diff">
      <figcaption>
        <bdi class="mono">{visible(diff.path)}</bdi>
        <span class="added">+{diff.added}</span>
        <span class="removed">−{diff.removed}</span>
      </figcaption>
      <div class="diff-lines" tabIndex={0} role="region" aria-label={`Changes of ${diff.path}`} dir="ltr">
        {shown.map(({ kind, text }, index) => (
          <div key={index} class="diff-line" data-kind={kind}>
            <span class="sign" aria-hidden="true">
              {signs[kind]}
            </span>
            {names[kind] && <span class="hidden">{names[kind]}: </span>}
            <span class="diff-text">{visible(text) || ' '}</span>
          </div>
        ))}
      </div>
      {shown.length < diff.lines.length && (
        <button type="button" class="quiet more" onClick={() => setLines(lines + moreLines)}>
          Show more of {diff.lines.length} lines
        </button>
      )}
    </figure>
  );
};
