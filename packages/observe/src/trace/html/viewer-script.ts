/** What the page does. Texts get into it as text nodes only. */
export const viewerScript = String.raw`
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
  const words = { ok: 'done', error: 'problem', refused: 'not run', open: 'without an end' };

  /* The tree: where each row hangs, and what hangs below it. */
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

  /* What is shown: folds and the filter. */
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
  /* The row that Tab comes to. */
  let resting;
  const rest = (row) => {
    if (resting) resting.element.tabIndex = -1;
    resting = row;
    if (row) row.element.tabIndex = 0;
  };

  /* Time. */
  const label = (milliseconds, step) => {
    if (step >= 60000) return Math.floor(milliseconds / 60000) + ' min' + (milliseconds % 60000 ? ' ' + Math.round((milliseconds % 60000) / 1000) + ' s' : '');
    if (step >= 1000) return milliseconds >= 60000 ? Math.floor(milliseconds / 60000) + ':' + String(Math.round((milliseconds % 60000) / 1000)).padStart(2, '0') : milliseconds / 1000 + ' s';
    return milliseconds >= 1000 ? +(milliseconds / 1000).toFixed(3) + ' s' : +milliseconds.toFixed(step < 1 ? 2 : 0) + ' ms';
  };
  const nice = [0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000, 600000, 1800000, 3600000, 7200000, 14400000, 43200000, 86400000];
  const scale = document.querySelector('.scale');
  const axis = byId('axis');
  const placeBeside = () => {
    const width = scale.clientWidth;
    for (const row of rows) {
      if (!row.beside) continue;
      const left = ((row.start - from) / span) * width;
      const right = ((row.end - from) / span) * width;
      const room = row.beside.textContent.length * 6.2 + 12;
      row.beside.className = 'beside' + (right + room <= width ? '' : left >= room ? ' before' : Math.min(right, width) - Math.max(left, 0) >= room ? ' inside' : ' nowhere');
    }
  };
  const drawAxis = () => {
    root.setProperty('--from', from);
    root.setProperty('--span', span);
    const width = scale.clientWidth;
    const step = nice.find((each) => (each / span) * width >= 90) || nice[nice.length - 1];
    axis.replaceChildren();
    for (let tick = Math.ceil((from - first) / step) * step; tick <= from - first + span; tick += step) {
      const left = ((tick + first - from) / span) * width;
      if (left > width - 40) break;
      const mark = make('span', '', label(tick, step));
      mark.style.left = left + 'px';
      axis.append(mark);
    }
    const box = byId('window');
    box.hidden = span >= whole;
    box.style.left = ((from - first) / whole) * 100 + '%';
    box.style.width = Math.max(0.3, (span / whole) * 100) + '%';
    placeBeside();
  };
  const drawMap = () => {
    const map = byId('map');
    const ratio = window.devicePixelRatio || 1;
    const width = (map.width = Math.max(1, scale.clientWidth * ratio));
    const height = (map.height = 30 * ratio);
    const paint = map.getContext('2d');
    const style = getComputedStyle(document.documentElement);
    const colours = Object.fromEntries(['model', 'tool', 'notice', 'error'].map((name) => [name, style.getPropertyValue('--' + name).trim()]));
    const lanes = { model: 0, tool: 1, notice: 2 };
    for (const row of rows) {
      if (!(row.kind in lanes)) continue;
      paint.fillStyle = row.status === 'error' ? colours.error : colours[row.kind];
      paint.fillRect(((row.start - first) / whole) * width, (3 + lanes[row.kind] * 9) * ratio, Math.max(ratio, ((row.end - row.start) / whole) * width), 6 * ratio);
    }
  };
  const zoom = (start, length) => {
    span = Math.min(whole, Math.max(whole / 100000, 0.1, length));
    from = Math.min(Math.max(first, start), first + whole - span);
    drawAxis();
  };
  const zoomBy = (factor, around) => {
    const row = rows[chosen];
    const middle = around ?? (row ? (row.start + row.end) / 2 : from + span / 2);
    const inView = middle >= from && middle <= from + span;
    const share = inView ? (middle - from) / span : 0.5;
    zoom(middle - span * factor * share, span * factor);
  };
  /* A long turn is a thin diagonal; so the time that is shown follows the rows that are, until somebody zooms. */
  const follow = () => {
    if (!isFollowing) return;
    const top = Math.max(0, document.querySelector('header').getBoundingClientRect().bottom - list.getBoundingClientRect().top);
    const at = Math.floor(top / rowHeight);
    const visible = shown.slice(at, at + Math.ceil((innerHeight - document.querySelector('header').offsetHeight) / rowHeight)).filter((row) => row.kind !== 'turn');
    if (visible.length === 0) return;
    let start = Infinity;
    let end = -Infinity;
    for (const row of visible) {
      start = Math.min(start, row.start);
      end = Math.max(end, row.end);
    }
    zoom(start, (end - start) * 1.02);
  };
  const setFollowing = (value) => {
    isFollowing = value;
    byId('follow').setAttribute('aria-pressed', String(value));
    follow();
  };
  const byHand = (act) => {
    setFollowing(false);
    act();
  };
  let isWaiting = false;
  window.addEventListener('scroll', () => {
    if (!isFollowing || isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => { isWaiting = false; follow(); });
  }, { passive: true });
  const reveal = (row) => {
    if (isFollowing || span >= whole || (row.end >= from && row.start <= from + span)) return;
    zoom((row.start + row.end) / 2 - span / 2, span);
  };

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

  /* Mouse. */
  const rowOf = (target) => {
    const element = target instanceof Element ? target.closest('.row') : null;
    return element ? rows[+element.id.slice(4)] : undefined;
  };
  list.addEventListener('click', (event) => {
    const row = rowOf(event.target);
    if (!row) return;
    if (event.target === row.foldSign && row.children.length > 0) fold(row, !row.open);
    else choose(row, true);
  });
  list.addEventListener('dblclick', (event) => {
    const row = rowOf(event.target);
    if (row && row.end > row.start) byHand(() => zoom(row.start - (row.end - row.start) * 0.05, (row.end - row.start) * 1.1));
  });
  const tip = byId('tip');
  list.addEventListener('pointermove', (event) => {
    const row = event.pointerType === 'touch' ? undefined : rowOf(event.target);
    tip.hidden = !row;
    if (!row) return;
    tip.replaceChildren(make('b', '', row.name), [row.time, row.tokens, row.cost, row.note].filter(Boolean).join(' · '));
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = (event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + 'px';
  });
  list.addEventListener('pointerleave', () => { tip.hidden = true; });
  list.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = scale.getBoundingClientRect();
    byHand(() => zoomBy(event.deltaY > 0 ? 1.25 : 0.8, from + ((event.clientX - box.left) / box.width) * span));
  }, { passive: false });
  let grip;
  const timeAt = (event) => {
    const box = scale.getBoundingClientRect();
    return first + Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * whole;
  };
  scale.addEventListener('pointerdown', (event) => { grip = timeAt(event); scale.setPointerCapture(event.pointerId); });
  scale.addEventListener('pointermove', (event) => {
    if (grip === undefined) return;
    const now = timeAt(event);
    if (Math.abs(now - grip) > whole / 200) byHand(() => zoom(Math.min(now, grip), Math.abs(now - grip)));
  });
  scale.addEventListener('pointerup', (event) => {
    if (grip !== undefined && Math.abs(timeAt(event) - grip) <= whole / 200 && span < whole) byHand(() => zoom(grip - span / 2, span));
    grip = undefined;
  });

  /* Keyboard. */
  const next = (row, way) => {
    for (let index = row.index + way; index >= 0 && index < rows.length; index += way) if (rows[index].visible) return rows[index];
    return undefined;
  };
  const keys = {
    ArrowDown: (row) => choose(next(row, 1)),
    ArrowUp: (row) => choose(next(row, -1)),
    ArrowRight: (row) => (row.children.length > 0 && !row.open ? fold(row, true) : choose(row.children.find((child) => child.visible))),
    ArrowLeft: (row) => (row.children.length > 0 && row.open ? fold(row, false) : choose(row.parent)),
    Home: () => choose(rows.find((row) => row.visible)),
    End: () => choose(rows.findLast((row) => row.visible)),
    Enter: (row) => choose(row, true),
    ' ': (row) => choose(row, true),
    PageDown: (row) => { let to = row; for (let count = 0; count < 15; count += 1) to = next(to, 1) ?? to; choose(to); },
    PageUp: (row) => { let to = row; for (let count = 0; count < 15; count += 1) to = next(to, -1) ?? to; choose(to); },
  };
  document.addEventListener('keydown', (event) => {
    tip.hidden = true;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target === byId('filter');
    if (event.key === 'Escape') {
      if (isTyping) { byId('filter').value = ''; wanted = ''; show(); byId('filter').blur(); } else hideDetails();
      return;
    }
    if (isTyping) { if (event.key === 'ArrowDown' || event.key === 'Enter') { event.preventDefault(); choose(rows.find((row) => row.visible)); } return; }
    const act = { '/': () => byId('filter').focus(), '+': () => byHand(() => zoomBy(0.5)), '=': () => byHand(() => zoomBy(0.5)), '-': () => byHand(() => zoomBy(2)), '0': () => byHand(() => zoom(first, whole)) }[event.key];
    if (act) { event.preventDefault(); act(); return; }
    const row = rowOf(event.target);
    const key = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (!row || !key) return;
    event.preventDefault();
    key(row);
  });
  byId('filter').addEventListener('input', (event) => { wanted = event.target.value.trim().toLowerCase(); show(); });
  byId('errors').addEventListener('click', (event) => {
    onlyProblems = !onlyProblems;
    event.currentTarget.setAttribute('aria-pressed', String(onlyProblems));
    show();
  });
  const foldAll = (isOpen) => { for (const row of rows) if (row.kind === 'step') row.open = isOpen; show(); };
  byId('expand').addEventListener('click', () => foldAll(true));
  byId('collapse').addEventListener('click', () => foldAll(false));
  byId('in').addEventListener('click', () => byHand(() => zoomBy(0.5)));
  byId('out').addEventListener('click', () => byHand(() => zoomBy(2)));
  byId('fit').addEventListener('click', () => byHand(() => zoom(first, whole)));
  byId('follow').addEventListener('click', () => setFollowing(!isFollowing));

  const drawAll = () => { drawAxis(); drawMap(); };
  window.addEventListener('resize', drawAll);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawMap);
  show();
  drawAll();
  setFollowing(steps.length > 40);
  document.documentElement.dataset.ready = 'true';
})();
`;
