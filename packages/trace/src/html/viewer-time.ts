/** Script of the time axis and its visible part. */
export const viewerTime = String.raw`
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
  /* In a long turn, few rows overlap in time, so the visible time follows the visible rows until the user zooms. */
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
`;
