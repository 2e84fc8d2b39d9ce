import { useState } from 'preact/hooks';
import type { StationApproval } from '../../api/contract.js';
import { parseUnifiedDiff } from '../state/diff.js';
import { duration } from '../state/format.js';
import { summaryOf } from '../state/tool-summary.js';
import type { ToolEntryPart } from '../state/turn-events.js';
import { visible } from '../state/visible.js';
import { ApprovalCard } from './approval.js';
import { Artifact } from './artifact.js';
import { CallInput, Output } from './call-input.js';
import { Diff } from './diff.js';
import { Icon, State } from './elements.js';
import { memo } from './memo.js';

/** Calls that a reader has opened or closed, by turn and call, so that they stay so when they leave the screen. */
export type OpenCalls = Map<string, boolean>;

export const ToolCall = memo(
  ({
    part,
    turn,
    opened,
    approval,
  }: {
    readonly part: ToolEntryPart;
    readonly turn: string;
    readonly opened: OpenCalls;
    readonly approval: StationApproval | undefined;
  }) => {
    const key = `${turn}\n${part.call}`;
    const [isOpen, setOpen] = useState(opened.get(key) ?? false);
    const state = approval ? 'waiting-for-input' : part.status;
    const toggle = (): void => {
      opened.set(key, !isOpen);
      setOpen(!isOpen);
    };
    return (
      <section class="tool" data-state={state}>
        <button type="button" class="tool-head" aria-expanded={isOpen} onClick={toggle}>
          <State state={state} />
          <span class="tool-name">{visible(part.name.slice(0, 80))}</span>
          <span class="tool-summary" dir="ltr">
            {summaryOf(part.input)}
          </span>
          <span class="tool-time">{part.durationMs === null ? toolStatus(state) : duration(part.durationMs)}</span>
          <span class="unfold">
            <Icon name="unfold" />
          </span>
        </button>
        {isOpen && !approval && (
          <div class="tool-body">
            <CallInput input={part.input} />
            <CallOutput part={part} />
          </div>
        )}
        {approval && <ApprovalCard approval={approval} isInline />}
      </section>
    );
  },
);

const toolStatus = (state: string): string =>
  state === 'running' ? 'running' : state === 'waiting-for-input' ? 'needs you' : state === 'ok' ? '' : state;

const CallOutput = ({ part }: { readonly part: ToolEntryPart }) => {
  if (part.output === null && part.artifact === null) {
    return <p class="tool-none">{part.status === 'running' ? 'No output yet.' : 'No output.'}</p>;
  }
  const diffs = part.output === null ? undefined : parseUnifiedDiff(part.output);
  return (
    <>
      {diffs ? (
        diffs.map((diff, index) => <Diff key={index} diff={diff} />)
      ) : (
        <Output label={part.status === 'error' ? 'Error' : 'Output'} text={part.output ?? ''} isPrinted />
      )}
      {part.isTruncated && !part.artifact && (
        <p class="cut">The output is longer. The transcript contains all of it.</p>
      )}
      {part.artifact && <Artifact id={part.artifact} name={null} mediaType={null} />}
    </>
  );
};
