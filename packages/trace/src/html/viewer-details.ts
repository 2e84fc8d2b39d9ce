/** Script of the details of the selected row. */
export const viewerDetails = String.raw`
  /* Details. */
  const details = byId('details');
  const showDetails = (row) => {
    const close = make('button', '', '✕');
    close.type = 'button';
    close.setAttribute('aria-label', 'Close the details');
    close.addEventListener('click', hideDetails);
    details.replaceChildren(close, make('h2', '', row.name));
    const pairs = make('dl', 'pairs');
    const add = (name, value) => value && pairs.append(make('dt', '', name), make('dd', '', value));
    add('state', words[row.status]);
    add('begins', label(+(row.start - first).toFixed(2), 1));
    add('takes', row.time);
    if (row.first !== undefined) add('first piece after', label(+(row.first - row.start).toFixed(1), 1));
    add('tokens', row.tokens);
    add('cost', row.cost);
    const isLong = (pair) => pair[1].length > 60 || pair[1].includes('\n') || ['input', 'output', 'answer', 'system', 'data', 'error'].includes(pair[0]);
    for (const pair of row.details) if (!isLong(pair)) add(pair[0], pair[1]);
    details.append(pairs);
    for (const pair of row.details) if (isLong(pair)) {
      const text = make('pre', '', pair[1]);
      text.tabIndex = 0;
      details.append(make('h3', '', pair[0]), text);
    }
    const wasHidden = details.hidden;
    details.hidden = false;
    details.scrollTop = 0;
    document.body.classList.add('open');
    if (wasHidden) drawAll();
  };
  const hideDetails = () => {
    if (details.hidden) return;
    details.hidden = true;
    document.body.classList.remove('open');
    drawAll();
    if (rows[chosen]) rows[chosen].element.focus();
  };
  const choose = (row, withDetails) => {
    if (!row) return;
    if (chosen >= 0) rows[chosen].element.setAttribute('aria-selected', 'false');
    chosen = row.index;
    row.element.setAttribute('aria-selected', 'true');
    rest(row);
    row.element.focus({ preventScroll: true });
    const top = row.element.getBoundingClientRect().top;
    const head = getComputedStyle(document.querySelector('header')).position === 'sticky' ? document.querySelector('header').offsetHeight : 0;
    if (top < head) window.scrollBy(0, top - head - 40);
    else if (top > innerHeight - 60) window.scrollBy(0, top - innerHeight + 100);
    reveal(row);
    if (withDetails || !details.hidden) showDetails(row);
  };
  const fold = (row, isOpen) => {
    row.open = isOpen;
    show();
  };
`;
