// Shows the requests of the program as they happen.
'use strict';
(function () {
  const by = function (id) { return document.getElementById(id); };
  const log = by('log'), shapes = by('shapes'), rate = by('rate'), pause = by('pause'), filter = by('request-filter');
  if (!log) { return; }
  const keep = 200;
  let paused = false, words = [], total = 0, since = Date.now();
  const figure = function (n) { return String(Math.round(n * 100) / 100); };
  const thousands = function (n) { return n.toLocaleString('en-US'); };

  // row returns a row of cells, whose first is a link.
  const row = function (address, cells, labels, mark) {
    const tr = document.createElement('tr');
    cells.forEach(function (text, i) {
      const cell = document.createElement(i === 0 ? 'th' : 'td');
      if (typeof text === 'number') { cell.className = 'n'; }
      let inside = cell;
      if (i === 0) {
        cell.scope = 'row';
        inside = document.createElement('a');
        inside.href = address;
        cell.appendChild(inside);
      }
      inside.textContent = typeof text === 'number' ? figure(text) : text;
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
  const say = function () {
    const rows = log.tBodies[0].rows, all = rows.length;
    const matching = all - log.tBodies[0].querySelectorAll('.filtered').length;
    by('log-shown').textContent = (words.length > 0 ? thousands(matching) + ' of ' : '') + thousands(all) + ' of ' +
      thousands(total) + ' requests';
  };
  filter.addEventListener('input', function () {
    words = filter.value.toLowerCase().split(/\s+/).filter(function (w) { return w !== ''; });
    Array.prototype.forEach.call(log.tBodies[0].rows, match);
    say();
  });
  pause.addEventListener('click', function () {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    pause.textContent = paused ? 'go on' : 'pause';
  });
  log.addEventListener('click', function (e) { // anywhere in a row
    const tr = e.target.closest('tbody tr');
    if (tr && !e.target.closest('a') && String(getSelection()) === '') { tr.querySelector('a').click(); }
  });

  const events = new EventSource('events');
  events.onmessage = function (e) {
    const batch = JSON.parse(e.data);
    const per = (batch.total - total) * 1000 / Math.max(Date.now() - since, 1);
    if (total > 0) {
      rate.textContent = thousands(Math.round(per)) + ' a second' +
        (batch.left > 0 ? '; ' + thousands(batch.requests.length) + ' of ' + thousands(batch.left + batch.requests.length) + ' are shown' : '');
    }
    total = batch.total;
    since = Date.now();
    if (paused) { return; }
    const body = log.tBodies[0];
    (batch.requests || []).forEach(function (r) {
      const what = r.error ? r.error : (r.mark ? r.mark + ': ' : '') + (r.slice || r.table);
      const tr = row('request?n=' + r.n, [r.at, r.operation, what, r.examined, r.returned, r.units, r.ms],
        ['at', 'operation', 'slice', 'read', 'returned', 'units', 'ms'], r.error ? 'error' : r.mark);
      match(tr);
      body.insertBefore(tr, body.firstChild);
    });
    while (body.rows.length > keep) { body.deleteRow(-1); }
    say();
    const sums = shapes.tBodies[0], focus = document.activeElement && sums.contains(document.activeElement) && document.activeElement.getAttribute('href');
    sums.textContent = '';
    (batch.shapes || []).forEach(function (s) {
      const tr = row('pattern?shape=' + s.n, [s.operation, s.table, s.conditions, s.requests, s.errors, s.examined, s.returned, s.units, s.ms],
        ['operation', 'table or index', 'conditions', 'requests', 'errors', 'read', 'returned', 'units', 'ms'],
        s.errors > 0 ? 'error' : s.operation === 'Scan' ? 'scan' : '');
      const link = tr.querySelector('a');
      sums.appendChild(tr);
      if (focus && link.getAttribute('href') === focus) { link.focus({preventScroll: true}); }
    });
    by('shapes-shown').textContent = (batch.further > 0 ? 'The ' + batch.shapes.length + ' shapes with the most units of ' +
      thousands(batch.shapes.length + batch.further) + '. ' : '') +
      (batch.other > 0 ? thousands(batch.other) + ' requests are of further shapes, which are not counted.' : '');
  };
  events.onerror = function () { rate.textContent = 'the program has ended, or does not answer'; };
})();
