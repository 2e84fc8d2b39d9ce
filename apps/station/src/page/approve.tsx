import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { StationApproval } from '../api/contract.js';
import { explain, request, type Decision } from './client/api.js';
import { ApprovalAnswers, ApprovalQuestion } from './view/approval.js';
import { Brand, stateText } from './view/elements.js';
import { applyTheme, storedTheme } from './view/theme.js';

/** The page of an approval link. The link itself is the permission, so it has no token. */
const ApprovalPage = ({ url }: { readonly url: string }) => {
  const [approval, setApproval] = useState<StationApproval>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    request(url, 'GET', {})
      .then((response) => response.json() as Promise<StationApproval>)
      .then(setApproval)
      .catch((error: unknown) => setProblem(explain(error)));
  }, []);
  const decide = async (decision: Decision): Promise<void> => {
    try {
      const response = await request(url, 'POST', {}, decision);
      setApproval((await response.json()) as StationApproval);
    } catch (error) {
      setProblem(explain(error));
    }
  };
  return (
    <main class="approve-page">
      <h1>
        <Brand /> Approval
      </h1>
      {problem !== undefined ? (
        <p class="problem" role="alert">
          {problem}
        </p>
      ) : approval === undefined ? (
        <p class="busy" role="status">
          Loading the approval
        </p>
      ) : approval.state !== 'open' ? (
        <p class="approve-done" role="status">
          The call is <strong>{stateText(approval.state)}</strong>. You can close this page.
        </p>
      ) : (
        <div class="approval">
          <p class="muted">{approval.agent === null ? 'A workflow asks' : `The agent ${approval.agent} asks`}</p>
          <ApprovalQuestion approval={approval} />
          <ApprovalAnswers approval={approval} isLink onDecide={decide} />
        </div>
      )}
    </main>
  );
};

applyTheme(storedTheme());
const root = document.querySelector('#page');
if (root) render(<ApprovalPage url={location.pathname} />, root);
