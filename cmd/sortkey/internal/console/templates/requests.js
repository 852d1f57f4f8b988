// Shows the requests of the program as they happen.
'use strict';
(function () {
  /**
   * Returns the element with an id, which the page has.
   * @template {Element} E
   * @param {string} id
   * @param {new () => E} type
   * @returns {E}
   */
  const by = function (id, type) {
    const e = document.getElementById(id);
    if (!(e instanceof type)) { throw new Error('the page has no ' + id); }
    return e;
  };
  if (!document.getElementById('log')) { return; }
  const log = by('log', HTMLTableElement), shapes = by('shapes', HTMLTableElement);
  const rate = by('rate', HTMLElement), pause = by('pause', HTMLElement), filter = by('request-filter', HTMLInputElement);

  /**
   * A request of the program, and a shape with the totals of its requests.
   * @typedef {object} Request
   * @property {number} n
   * @property {string} at
   * @property {string} operation
   * @property {string} table
   * @property {string} slice
   * @property {number} examined
   * @property {number} returned
   * @property {number} units
   * @property {number} ms
   * @property {string} [error]
   * @property {string} [mark]
   *
   * @typedef {object} Shape
   * @property {number} n
   * @property {string} operation
   * @property {string} table
   * @property {string} conditions
   * @property {number} requests
   * @property {number} errors
   * @property {number} examined
   * @property {number} returned
   * @property {number} units
   * @property {number} ms
   * @property {string} [mark]
   *
   * @typedef {object} Batch
   * @property {Request[] | null} requests
   * @property {Shape[] | null} shapes
   * @property {number} left
   * @property {number} total
   * @property {number} further
   * @property {number} other
   */
  const keep = 200;
  /** @type {string[]} */
  let words = [];
  let paused = false, total = 0, since = Date.now();
  const figure = function (/** @type {number} */ n) { return String(Math.round(n * 100) / 100); };
  const thousands = function (/** @type {number} */ n) { return n.toLocaleString('en-US'); };

  /**
   * Returns a row of cells, whose first is a link. The third begins with the mark.
   * @param {string} address
   * @param {(string | number)[]} cells
   * @param {string[]} labels
   * @param {string} [mark]
   */
  const row = function (address, cells, labels, mark) {
    const tr = document.createElement('tr');
    cells.forEach(function (text, i) {
      const cell = document.createElement(i === 0 ? 'th' : 'td');
      if (typeof text === 'number') { cell.className = 'n'; }
      const shown = typeof text === 'number' ? figure(text) : text;
      if (i === 0) {
        cell.setAttribute('scope', 'row');
        const link = document.createElement('a');
        link.href = address;
        link.textContent = shown;
        cell.appendChild(link);
      } else {
        cell.textContent = shown;
      }
      if (i === 2 && mark) {
        const chip = document.createElement('span');
        chip.className = mark === 'error' ? 'chip bad' : 'chip warn';
        chip.textContent = mark;
        cell.prepend(chip, ' ');
      }
      cell.dataset.label = labels[i];
      tr.appendChild(cell);
    });
    if (mark) { tr.className = 'mark-' + mark; }
    return tr;
  };
  const match = function (/** @type {HTMLElement} */ tr) {
    const text = (tr.textContent || '').toLowerCase();
    tr.classList.toggle('filtered', !words.every(function (w) { return text.indexOf(w) >= 0; }));
  };
  const say = function () {
    const rows = log.tBodies[0].rows, all = rows.length;
    const matching = all - log.tBodies[0].querySelectorAll('.filtered').length;
    by('log-shown', HTMLElement).textContent = (words.length > 0 ? thousands(matching) + ' of ' : '') + thousands(all) + ' of ' +
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
    if (!(e.target instanceof Element) || e.target.closest('a') || String(getSelection()) !== '') { return; }
    const tr = e.target.closest('tbody tr'), link = tr && tr.querySelector('a');
    if (link) { link.click(); }
  });

  const events = new EventSource('events');
  events.onmessage = function (e) {
    /** @type {Batch} */
    const batch = JSON.parse(e.data);
    const requests = batch.requests || [], sums = batch.shapes || [];
    const per = (batch.total - total) * 1000 / Math.max(Date.now() - since, 1);
    if (total > 0) {
      rate.textContent = thousands(Math.round(per)) + ' a second' +
        (batch.left > 0 ? '; ' + thousands(requests.length) + ' of ' + thousands(batch.left + requests.length) + ' are shown' : '');
    }
    total = batch.total;
    since = Date.now();
    if (paused) { return; }
    const body = log.tBodies[0];
    requests.forEach(function (r) {
      const what = r.error || r.slice || r.table;
      const tr = row('request?n=' + r.n, [r.at, r.operation, what, r.examined, r.returned, r.units, r.ms],
        ['at', 'operation', 'slice', 'read', 'returned', 'units', 'ms'], r.error ? 'error' : r.mark);
      match(tr);
      body.insertBefore(tr, body.firstChild);
    });
    while (body.rows.length > keep) { body.deleteRow(-1); }
    say();
    const active = document.activeElement, rows = shapes.tBodies[0];
    const focus = active && rows.contains(active) && active.getAttribute('href');
    rows.textContent = '';
    sums.forEach(function (s) {
      const tr = row('pattern?shape=' + s.n, [s.operation, s.table || '–', s.conditions || '–', s.requests, s.errors, s.examined, s.returned, s.units, s.ms],
        ['operation', 'table or index', 'conditions', 'requests', 'errors', 'read', 'returned', 'units', 'ms'],
        s.errors > 0 ? 'error' : s.mark);
      const link = tr.querySelector('a');
      rows.appendChild(tr);
      if (link && focus && link.getAttribute('href') === focus) { link.focus({preventScroll: true}); }
    });
    by('shapes-shown', HTMLElement).textContent = (batch.further > 0 ? 'The ' + sums.length + ' shapes with the most units of ' +
      thousands(sums.length + batch.further) + '. ' : '') +
      (batch.other > 0 ? thousands(batch.other) + ' requests are of further shapes, which are not counted.' : '');
  };
  events.onerror = function () { rate.textContent = 'the program has ended, or does not answer'; };
})();
