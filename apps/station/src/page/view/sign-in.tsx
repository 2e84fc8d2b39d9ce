import { useState } from 'preact/hooks';
import { tokenIn } from '../state/route.js';
import { Brand } from './elements.js';

/** Asks for the token where the address has none or the station rejects it. */
export const SignIn = ({
  isDenied,
  onToken,
}: {
  readonly isDenied: boolean;
  readonly onToken: (token: string) => void;
}) => {
  const [value, setValue] = useState('');
  const submit = (): void => {
    const text = value.trim();
    const hash = text.indexOf('#');
    const token = (hash >= 0 ? tokenIn(text.slice(hash)) : null) ?? text;
    if (token !== '') onToken(token);
  };
  return (
    <main class="sign-in">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <h1>
          <Brand /> Station
        </h1>
        <p role={isDenied ? 'alert' : undefined} class={isDenied ? 'problem' : undefined}>
          {isDenied
            ? 'The station does not accept the token of this tab: each start replaces it. Open the address that was printed last, or paste it here.'
            : 'Open the address that the station printed when it started, or paste its token here.'}
        </p>
        <label class="field">
          <span>Token or address</span>
          <input
            type="password"
            autoComplete="off"
            spellcheck={false}
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </label>
        <div class="form-end">
          <button type="submit" class="primary" disabled={value.trim() === ''}>
            Continue
          </button>
        </div>
      </form>
    </main>
  );
};
