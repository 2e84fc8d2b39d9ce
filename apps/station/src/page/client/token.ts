import { tokenIn } from '../state/route.js';

const key = 'station-token';
const channelName = 'station-token';
/** Tabs of the same browser answer within milliseconds. */
const answerMs = 150;

/** Removes the token from the address, so that it is not copied or bookmarked with it. */
const takeToken = (view = '#/sessions'): string | null => {
  const token = tokenIn(location.hash);
  if (token !== null) history.replaceState(null, '', `${location.pathname}${view}`);
  return token;
};
/** The token in the address or of this tab. */
export const storedToken = (): string | null => takeToken() ?? sessionStorage.getItem(key);

/** Calls back when another address with a token is opened in this tab, which does not load the page again. */
export const onOtherToken = (callback: (token: string) => void): (() => void) => {
  const onHashChange = ({ oldURL }: HashChangeEvent): void => {
    const token = takeToken(new URL(oldURL).hash);
    if (token !== null) callback(token);
  };
  addEventListener('hashchange', onHashChange);
  return () => removeEventListener('hashchange', onHashChange);
};

export const storeToken = (token: string): void => sessionStorage.setItem(key, token);
export const forgetToken = (): void => sessionStorage.removeItem(key);

/** Asks the other tabs of this page for their token, so that a link opens in a second tab. */
export const askOtherTabs = async (): Promise<string | null> => {
  const channel = new BroadcastChannel(channelName);
  try {
    return await new Promise<string | null>((resolve) => {
      const timer = setTimeout(() => resolve(null), answerMs);
      channel.addEventListener('message', ({ data }: MessageEvent<{ readonly token?: unknown }>) => {
        if (typeof data?.token !== 'string') return;
        clearTimeout(timer);
        resolve(data.token);
      });
      // oxlint-disable-next-line require-post-message-target-origin -- a channel reaches this origin only
      channel.postMessage({ ask: true });
    });
  } finally {
    channel.close();
  }
};

/** Answers tabs that ask, until the returned function is called. */
export const answerOtherTabs = (token: string): (() => void) => {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener('message', ({ data }: MessageEvent<{ readonly ask?: unknown }>) => {
    // oxlint-disable-next-line require-post-message-target-origin -- a channel reaches this origin only
    if (data?.ask === true) channel.postMessage({ token });
  });
  return () => channel.close();
};
