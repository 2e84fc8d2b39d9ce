/** The color scheme: that of the system, or the choice of the reader, which is stored in this browser. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'station-theme';
const themes: readonly Theme[] = ['system', 'light', 'dark'];

export const storedTheme = (): Theme => {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system';
  } catch {
    return 'system';
  }
};

export const applyTheme = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(key, theme);
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
};

export const nextTheme = (theme: Theme): Theme => themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
