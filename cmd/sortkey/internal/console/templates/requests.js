// Shows the requests of the program as they happen.
'use strict';
(function () {
  const by = function (id) { return document.getElementById(id); };
  const log = by('log'), shapes = by('shapes'), rate = by('rate'), pause = by('pause'), filter = by('request-filter');
  if (!log) { return; }
  const keep = 200;
  let paused = false, words = [], total = 0, since = Date.now();
  const figure = function (n) { return String(Math.round(n * 100) / 100); };
  const row = function (cells, labels, mark) {
    const tr = document.createElement('tr');
    cells.forEach(function (text, i) {
      const cell = document.createElement(i === 0 ? 'th' : 'td');
      if (i === 0) { cell.scope = 'row'; }
      if (typeof text === 'number') { cell.className = 'n'; }
      cell.textContent = typeof text === 'number' ? figure(text) : text;
      cell.dataset.label = labels[i];
      tr.appendChild(cell);
    });
    if (mark) { tr.className = 'mark-' + mark; }
    return tr;
  };
  const match = function (tr) {
    const text = tr.textContent.toLowerCase();
    tr.classList.toggle('filtered', !words.every(function (w) { return text.indexOf(w) >= 0; }));
  };
  filter.addEventListener('input', function () {
    words = filter.value.toLowerCase().split(/\s+/).filter(function (w) { return w !== ''; });
    Array.prototype.forEach.call(log.tBodies[0].rows, match);
  });
  pause.addEventListener('click', function () {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    pause.textContent = paused ? 'go on' : 'pause';
  });
  const events = new EventSource('events');
  events.onmessage = function (e) {
    const batch = JSON.parse(e.data);
    const per = (batch.total - total) * 1000 / Math.max(Date.now() - since, 1);
    if (total > 0) { rate.textContent = Math.round(per) + ' a second, ' + batch.total + ' in all' + (batch.left > 0 ? '; a sample is shown' : ''); }
    total = batch.total;
    since = Date.now();
    if (paused) { return; }
    const body = log.tBodies[0];
    (batch.requests || []).forEach(function (r) {
      const what = r.error ? r.error : (r.mark ? r.mark + ': ' : '') + (r.slice || r.table);
      const tr = row([r.at, r.operation, what, r.examined, r.returned, r.units, r.ms],
        ['at', 'operation', 'slice', 'read', 'returned', 'units', 'ms'], r.error ? 'error' : r.mark);
      match(tr);
      body.insertBefore(tr, body.firstChild);
    });
    while (body.rows.length > keep) { body.deleteRow(-1); }
    const sums = shapes.tBodies[0];
    sums.textContent = '';
    (batch.shapes || []).forEach(function (s) {
      sums.appendChild(row([s.operation, s.table, s.n, s.errors, s.examined, s.returned, s.units, s.ms],
        ['operation', 'table or index', 'requests', 'errors', 'read', 'returned', 'units', 'ms'],
        s.errors > 0 ? 'error' : s.operation === 'Scan' ? 'scan' : ''));
    });
  };
  events.onerror = function () { rate.textContent = 'the program has ended, or does not answer'; };
})();
