import type { FileDiff } from '../state/diff.js';
import { visible } from '../state/visible.js';

const maxLines = 400;
const signs = { added: '+', removed: '−', same: ' ', gap: '⋯' } as const;
const names = { added: 'added', removed: 'removed', same: undefined, gap: undefined } as const;

/** The change of a file, line by line. */
export const Diff = ({ diff }: { readonly diff: FileDiff }) => {
  const shown = diff.lines.slice(0, maxLines);
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
        <p class="cut">{diff.lines.length - shown.length} more lines are not shown.</p>
      )}
    </figure>
  );
};
