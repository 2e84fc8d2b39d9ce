/** The views of the page and their addresses. They live in the fragment, so every view can be linked and reloaded. */
export type Route =
  | { readonly view: 'sessions' }
  | { readonly view: 'session'; readonly id: string; readonly tab: 'conversation' | 'timeline' }
  | { readonly view: 'approvals' }
  | { readonly view: 'lanes' }
  | { readonly view: 'workflows'; readonly workflow: string | null; readonly run: string | null }
  | { readonly view: 'usage' };

const decoded = (part: string | undefined): string | null => {
  if (!part) return null;
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
};

/** Reads the fragment of an address. Unknown ones show the sessions. */
export const parseRoute = (hash: string): Route => {
  const [view, first, second] = hash.replace(/^#\/?/u, '').split('/');
  const id = decoded(first);
  switch (view) {
    case 'sessions':
      return id === null
        ? { view: 'sessions' }
        : { view: 'session', id, tab: second === 'timeline' ? 'timeline' : 'conversation' };
    case 'approvals':
    case 'lanes':
    case 'usage':
      return { view };
    case 'workflows':
      return { view, workflow: id, run: decoded(second) };
    case undefined:
    default:
      return { view: 'sessions' };
  }
};

/** The address of a view, for links. */
export const hrefOf = (route: Route): string => {
  switch (route.view) {
    case 'session':
      return `#/sessions/${encodeURIComponent(route.id)}${route.tab === 'timeline' ? '/timeline' : ''}`;
    case 'workflows':
      return ['#/workflows', route.workflow, route.run]
        .filter((part) => part !== null)
        .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
        .join('/');
    case 'sessions':
    case 'approvals':
    case 'lanes':
    case 'usage':
      return `#/${route.view}`;
  }
};

/** The token in the address that `npm run station` prints, `/#token=…`. */
export const tokenIn = (hash: string): string | null => /^#token=([\w.~+/=-]{1,500})$/u.exec(hash)?.[1] ?? null;
