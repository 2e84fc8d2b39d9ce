import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { StationApi } from './client/api.js';
import { StationClient } from './client/station-client.js';
import { askOtherTabs, answerOtherTabs, forgetToken, onOtherToken, storedToken, storeToken } from './client/token.js';
import { App } from './view/app.js';
import { SignIn } from './view/sign-in.js';
import { applyTheme, storedTheme } from './view/theme.js';

const Page = ({ initial }: { readonly initial: string | null }) => {
  const [token, setToken] = useState(initial);
  const [isDenied, setDenied] = useState(false);
  const station = useMemo(() => (token === null ? undefined : new StationClient(new StationApi(token))), [token]);
  useEffect(() => () => station?.close(), [station]);
  useEffect(() => (token === null ? undefined : answerOtherTabs(token)), [token]);
  const signIn = (entered: string): void => {
    storeToken(entered);
    setToken(entered);
  };
  useEffect(() => onOtherToken(signIn), []);
  if (!station) {
    return <SignIn isDenied={isDenied} onToken={signIn} />;
  }
  return (
    <App
      key={token}
      station={station}
      onDenied={() => {
        forgetToken();
        setDenied(true);
        setToken(null);
      }}
    />
  );
};

const start = async (): Promise<void> => {
  applyTheme(storedTheme());
  const token = storedToken() ?? (await askOtherTabs());
  if (token !== null) storeToken(token);
  const root = document.querySelector('#page');
  if (root) render(<Page initial={token} />, root);
};
void start();
