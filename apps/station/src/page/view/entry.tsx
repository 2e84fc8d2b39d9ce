import type { StationApproval, StationEntry } from '../../api/contract.js';
import { clock, moment } from '../state/format.js';
import type { EntryPart, Note } from '../state/turn-events.js';
import { Artifact } from './artifact.js';
import { FileName } from './elements.js';
import { Markdown } from './markdown.js';
import { memo } from './memo.js';
import { ToolCall, type OpenCalls } from './tool-call.js';

export interface EntryViewProps {
  readonly entry: StationEntry | undefined;
  /** The entry continues the one before: the same turn and role. */
  readonly isContinued: boolean;
  readonly isStreaming: boolean;
  readonly agent: string;
  readonly notes: readonly Note[] | undefined;
  readonly approvals: readonly StationApproval[];
  readonly opened: OpenCalls;
}

const names = { user: 'You', system: 'Station' } as const;

export const EntryView = memo(
  ({ entry, isContinued, isStreaming, agent, notes, approvals, opened }: EntryViewProps) => {
    if (!entry) {
      return (
        <div class="entry placeholder" role="status" aria-label="Loading earlier messages">
          <span />
          <span />
        </div>
      );
    }
    const tools = entry.parts.filter((part) => part.type === 'tool');
    return (
      <>
        <div class="entry" data-role={entry.role} data-continued={isContinued}>
          {!isContinued && (
            <header class="entry-head">
              <span class="entry-author">{entry.role === 'assistant' ? agent : names[entry.role]}</span>
              {entry.at !== null && (
                <time dateTime={new Date(entry.at).toISOString()} title={moment(entry.at)}>
                  {clock(entry.at, Date.now())}
                </time>
              )}
            </header>
          )}
          {entry.parts.map((part, index) => (
            <Part
              key={part.type === 'tool' ? part.call : index}
              part={part}
              turn={entry.turn}
              isLast={isStreaming && index === entry.parts.length - 1}
              opened={opened}
              approval={
                part.type === 'tool' && tools.length > 0
                  ? approvals.find(({ call, turn }) => call?.id === part.call && (turn === null || turn === entry.turn))
                  : undefined
              }
            />
          ))}
          {isStreaming && entry.parts.length === 0 && <span class="caret" aria-hidden="true" />}
        </div>
        {notes?.map(({ kind, text, at }, index) => (
          <p key={index} class="note" data-kind={kind} title={moment(at)}>
            <span dir="auto">{text.slice(0, 600)}</span>
          </p>
        ))}
      </>
    );
  },
);

const Part = ({
  part,
  turn,
  isLast,
  opened,
  approval,
}: {
  readonly part: EntryPart;
  readonly turn: string;
  readonly isLast: boolean;
  readonly opened: OpenCalls;
  readonly approval: StationApproval | undefined;
}) => {
  switch (part.type) {
    case 'text':
      return (
        <div class={isLast ? 'text streaming' : 'text'}>
          <Markdown text={part.text} />
        </div>
      );
    case 'reasoning':
      return (
        <details class="reasoning">
          <summary>{isLast ? 'Thinking…' : 'Reasoning'}</summary>
          <Markdown text={part.text} />
        </details>
      );
    case 'file':
      return part.artifact === null ? (
        <p class="muted">
          File <FileName name={part.name ?? part.mediaType} />
        </p>
      ) : (
        <Artifact id={part.artifact} name={part.name} mediaType={part.mediaType} />
      );
    case 'tool':
      return <ToolCall part={part} turn={turn} opened={opened} approval={approval} />;
  }
};
