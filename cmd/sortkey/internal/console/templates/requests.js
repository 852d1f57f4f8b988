/// <reference path="shared.js" />
// Shows the requests of the program as they happen.
'use strict';
(function () {
  const by = shared.by;
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
   * @property {string} [message]
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
   * @property {string} [message]
   * @property {string} [mark]
   * @property {string} [advice]
   *
   * @typedef {object} Batch
   * @property {Request[] | null} requests
   * @property {Shape[] | null} shapes
   * @property {number} left
   * @property {number} total
   * @property {number} other
   */
  const keep = 200;
  /** @type {string[]} */
  let words = [];
  let paused = false, total = 0, since = Date.now();
  const figure = function (/** @type {number} */ n) { return String(Math.round(n * 100) / 100); };
  const thousands = function (/** @type {number} */ n) { return n.toLocaleString('en-US'); };

  /**
   * What the cells of rows are, by which they are sorted.
   * @type {WeakMap<HTMLTableRowElement, (string | number)[]>}
   */
  const values = new WeakMap();
  /**
   * Makes the titles of a table sort it: numbers from the highest, texts from A, and as it was. It returns the function
   * that sorts the rows anew.
   * @param {HTMLTableElement} table
   */
  const sortable = function (table) {
    const body = table.tBodies[0], head = table.tHead;
    let at = -1, down = false;
    const sort = function () {
      if (at < 0) { return; }
      const active = document.activeElement;
      Array.from(body.rows).sort(function (a, b) {
        const x = (values.get(a) || [])[at], y = (values.get(b) || [])[at];
        const n = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
        return down ? -n : n;
      }).forEach(function (tr) { body.appendChild(tr); });
      if (active instanceof HTMLElement && body.contains(active)) { active.focus({preventScroll: true}); }
    };
    Array.from(head ? head.rows[0].cells : []).forEach(function (th, i) {
      const number = th.classList.contains('n');
      const button = shared.button(th.textContent || '', function () {
        const last = at === i && down !== number;
        Array.from(head ? head.rows[0].cells : []).forEach(function (e) { e.removeAttribute('aria-sort'); });
        if (last) {
          at = -1;
          order();
          return;
        }
        down = at === i ? !down : number;
        at = i;
        th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        sort();
      });
      th.replaceChildren(button);
    });
    let order = function () {}; // as the rows came
    return {sort: sort, unsorted: function (/** @type {() => void} */ f) { order = f; }};
  };

  /**
   * Returns a row of cells, whose first is a link unless the address is empty. The third begins with the mark.
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
        if (address) { cell.appendChild(shared.element('a', shown)).href = address; } else { cell.textContent = shown; }
      } else {
        cell.textContent = shown;
      }
      if (i === 2 && mark) {
        const chip = shared.element('span', mark);
        chip.className = mark === 'error' ? 'chip bad' : 'chip warn';
        cell.prepend(chip, ' ');
      }
      cell.dataset.label = labels[i];
      tr.appendChild(cell);
    });
    if (mark) { tr.className = 'mark-' + mark; }
    values.set(tr, cells);
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

  const newestFirst = function () {
    const number = function (/** @type {HTMLTableRowElement} */ tr) { return Number(new URL(tr.querySelector('a')?.href || 'x:').searchParams.get('n')); };
    return Array.from(log.tBodies[0].rows).sort(function (a, b) { return number(b) - number(a); });
  };
  const logOrder = sortable(log), shapeOrder = sortable(shapes);
  logOrder.unsorted(function () {
    newestFirst().forEach(function (tr) { log.tBodies[0].appendChild(tr); });
  });
  /** @type {Shape[]} */
  let sums = [];
  shapeOrder.unsorted(function () { showShapes(); });

  // What a row is known by: the number of its request, and its time, as a program that starts again counts from 1.
  const same = function (/** @type {HTMLTableRowElement} */ tr) {
    return (tr.querySelector('a')?.getAttribute('href') || '') + ' ' + (values.get(tr) || [''])[0];
  };
  const events = new EventSource('events');
  events.onmessage = function (e) {
    /** @type {Batch} */
    const batch = JSON.parse(e.data);
    const requests = batch.requests || [];
    const per = (batch.total - total) * 1000 / Math.max(Date.now() - since, 1);
    if (total > 0) {
      rate.textContent = thousands(Math.round(per)) + ' a second' +
        (batch.left > 0 ? '; ' + thousands(requests.length) + ' of ' + thousands(batch.left + requests.length) + ' are shown' : '');
    }
    total = batch.total;
    since = Date.now();
    if (paused) { return; }
    const body = log.tBodies[0];
    const have = new Set(Array.from(body.rows).map(same)); // a connection that is made again begins with the last requests
    requests.forEach(function (r) {
      if (have.has('request?n=' + r.n + ' ' + r.at)) { return; }
      const error = r.error ? r.error + (r.message ? ': ' + r.message : '') : '';
      const what = [error, r.slice || (error ? '' : r.table)].filter(function (s) { return s !== ''; }).join(' — ');
      const tr = row('request?n=' + r.n, [r.at, r.operation, what, r.examined, r.returned, r.units, r.ms],
        ['at', 'operation', 'slice', 'read', 'returned', 'units', 'ms'], r.error ? 'error' : r.mark);
      match(tr);
      body.insertBefore(tr, body.firstChild);
    });
    if (body.rows.length > keep) { // the oldest go, wherever they are
      newestFirst().slice(keep).forEach(function (tr) { tr.remove(); });
    }
    logOrder.sort();
    say();
    sums = batch.shapes || [];
    showShapes();
    by('shapes-shown', HTMLElement).textContent =
      (batch.other > 0 ? thousands(batch.other) + ' requests are of further shapes, which are not counted.' : '');
  };

  const showShapes = function () {
    const rows = shapes.tBodies[0];
    rows.textContent = '';
    sums.forEach(function (s) {
      const conditions = (s.conditions || '–') + (s.message ? ' — last error: ' + s.message : '');
      const tr = row('', [
        s.operation, s.table || '–', conditions, s.requests, s.errors, s.examined, s.returned, s.units, s.ms
      ], [
        'operation', 'table or index', 'conditions', 'requests', 'errors', 'read', 'returned', 'units', 'ms'
      ], s.errors > 0 ? 'error' : s.mark);
      if (s.advice) {
        tr.cells[2].appendChild(shared.element('p', 'To read less: ' + s.advice)).className = 'advice';
      }
      rows.appendChild(tr);
    });
    shapeOrder.sort();
  };
  events.onerror = function () { rate.textContent = 'the program has ended, or does not answer'; };
})();
