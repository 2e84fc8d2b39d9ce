import { tokenIn } from '../state/route.js';

const key = 'station-token';
const channelName = 'station-token';
/** Tabs of the same browser answer within milliseconds. */
const answerMs = 150;

/** The token in the address or of this tab. It leaves the address, so that it is not copied or bookmarked with it. */
export const storedToken = (): string | null => {
  const token = tokenIn(location.hash);
  if (token === null) return sessionStorage.getItem(key);
  history.replaceState(null, '', `${location.pathname}#/sessions`);
  return token;
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
