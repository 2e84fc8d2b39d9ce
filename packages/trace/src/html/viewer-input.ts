/** Script of the mouse and keyboard handling. */
export const viewerInput = String.raw`
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
