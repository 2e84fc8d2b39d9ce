/** Script of the rows and their visibility. */
export const viewerRows = String.raw`
'use strict';
(() => {
  const rows = JSON.parse(document.getElementById('data').textContent);
  const byId = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const list = byId('rows');
  const root = document.documentElement.style;
  const first = rows.length ? Math.min(...rows.filter((row) => row.depth === 0).map((row) => row.start)) : 0;
  let last = first + 1;
  for (const row of rows) if (row.end > last) last = row.end;
  const whole = (last - first) * 1.001;
  let from = first;
  let span = whole;
  let chosen = -1;
  let shown = [];
  let isFollowing = false;
  const rowHeight = 26;
  const marks = { error: '✕', refused: '⊘', open: '…' };
  const words = { ok: 'done', error: 'problem', refused: 'not run', open: 'no end recorded' };

  /* The tree: the parent and the children of each row. */
  const stack = [];
  rows.forEach((row, index) => {
    row.index = index;
    row.parent = row.depth > 0 ? stack[row.depth - 1] : undefined;
    row.children = [];
    row.open = true;
    stack[row.depth] = row;
    if (row.parent) row.parent.children.push(row);
  });
  const steps = rows.filter((row) => row.kind === 'step');
  if (steps.length > 40) for (const step of steps) step.open = false;

  const bar = (className, start, end) => {
    const element = make('div', 'bar ' + className);
    element.style.setProperty('--s', start);
    element.style.setProperty('--d', Math.max(0, end - start));
    return element;
  };
  const build = (row) => {
    const element = make('div', 'row');
    element.id = 'row-' + row.index;
    element.setAttribute('role', 'row');
    element.setAttribute('aria-level', row.depth + 1);
    element.setAttribute('aria-selected', 'false');
    element.dataset.kind = row.kind;
    element.dataset.status = row.status;
    element.tabIndex = -1;
    element.style.setProperty('--depth', row.depth);
    const name = make('div', 'name');
    name.setAttribute('role', 'rowheader');
    row.foldSign = make('span', 'fold', '');
    row.foldSign.setAttribute('aria-hidden', 'true');
    const sign = make('span', 'sign');
    sign.setAttribute('aria-hidden', 'true');
    name.append(row.foldSign, sign);
    if (marks[row.status]) {
      const mark = make('span', 'mark', marks[row.status]);
      mark.setAttribute('role', 'img');
      mark.setAttribute('aria-label', words[row.status]);
      name.append(mark);
    }
    name.append(make('span', 'label', row.name));
    if (row.note) name.append(make('span', 'note', row.note));
    if (row.time) name.append(make('span', 'time', row.time));
    const lane = make('div', 'lane');
    lane.setAttribute('role', 'gridcell');
    lane.append(bar('whole', row.start, row.end));
    if (row.first > row.start) lane.append(bar('wait', row.start, Math.min(row.first, row.end)));
    for (const child of row.kind === 'step' ? row.children : []) lane.append(bar('part ' + child.kind + (child.status === 'error' ? ' error' : ''), child.start, child.end));
    const beside = [row.kind === 'notice' ? '' : row.tokens, row.cost].filter(Boolean).join('  ·  ');
    if (beside && row.kind === 'model') {
      row.beside = make('span', 'beside', beside);
      row.beside.style.setProperty('--s', row.start);
      row.beside.style.setProperty('--d', Math.max(0, row.end - row.start));
      lane.append(row.beside);
    }
    lane.append(make('span', 'hidden', [row.time, beside].filter(Boolean).join(', ')));
    element.append(name, lane);
    row.element = element;
    return element;
  };
  const fragment = document.createDocumentFragment();
  for (const row of rows) fragment.append(build(row));
  list.append(fragment);
  list.setAttribute('aria-rowcount', rows.length);

  /* Visibility: folded rows and the filter. */
  let wanted = '';
  let onlyProblems = false;
  const fits = (row) =>
    (!onlyProblems || row.status !== 'ok') &&
    (wanted === '' || (row.text ??= [row.name, row.note, ...row.details.map((pair) => pair[1])].join('\n').toLowerCase()).includes(wanted));
  const show = () => {
    const isFiltered = wanted !== '' || onlyProblems;
    let found = 0;
    if (isFiltered) {
      for (const row of rows) row.fit = false;
      for (const row of rows) {
        if (!fits(row) || (onlyProblems && row.children.length > 0 && row.kind !== 'turn')) continue;
        found += 1;
        for (let above = row; above && !above.fit; above = above.parent) above.fit = true;
      }
    }
    for (const row of rows) {
      let visible = !isFiltered || row.fit;
      for (let above = row.parent; visible && !isFiltered && above; above = above.parent) visible = above.open;
      row.visible = visible;
      row.element.hidden = !visible;
      const isOpen = isFiltered || row.open;
      if (row.children.length > 0) {
        row.element.setAttribute('aria-expanded', String(isOpen));
        row.foldSign.textContent = isOpen ? '▼' : '▶';
      }
    }
    byId('found').textContent = isFiltered ? found + (found === 1 ? ' row found' : ' rows found') : '';
    shown = rows.filter((row) => row.visible);
    if (chosen < 0 || !rows[chosen].visible) rest(shown[0]);
    follow();
  };
  /* The row in the tab order. */
  let resting;
  const rest = (row) => {
    if (resting) resting.element.tabIndex = -1;
    resting = row;
    if (row) row.element.tabIndex = 0;
  };
`;
