/// <reference path="shared.js" />
// Sorts, finds and arranges the rows of a grid, and keeps the ways back to rows that a scan cannot go back to. The page
// works without it, in the order in which the rows were read.
'use strict';
(async function () {
  const table = document.getElementById('grid'), section = document.getElementById('items');
  if (!section) { return; }
  const element = shared.element;
  /**
   * Reads what the browser keeps under a name, and writes it. A browser that keeps nothing has the page as it came.
   * @param {Storage} store
   * @param {string} name
   * @returns {any}
   */
  const kept = function (store, name) {
    try { return JSON.parse(store.getItem(name) || 'null'); } catch { return null; }
  };
  /**
   * @param {Storage} store
   * @param {string} name
   * @param {any} value
   */
  const keep = function (store, name, value) {
    try { store.setItem(name, JSON.stringify(value)); } catch { /* it is full, or not allowed */ }
  };

  const idOf = function (/** @type {Element} */ e) { return e.getAttribute('data-column') || ''; };
  const figure = function (/** @type {number} */ n) { return n.toLocaleString('en'); };
  const count = function (/** @type {number} */ n) { return figure(n) + (n === 1 ? ' row' : ' rows'); };

  // What is above the rows is folded in a narrow window, unless somebody is typing there.
  const above = document.getElementById('above'), narrow = matchMedia('(max-width: 760px)');
  if (above instanceof HTMLDetailsElement) {
    const fold = function () { above.open = !narrow.matches || !table || above.contains(document.activeElement); };
    narrow.addEventListener('change', fold);
    fold();
  }

  // The filter of all rows is a part of the address.
  const filter = document.getElementById('filter-rows');
  if (filter instanceof HTMLInputElement) {
    filter.addEventListener('keydown', function (e) {
      if (e.key !== 'Enter') { return; }
      const query = new URLSearchParams(location.search);
      query.delete('after');
      query.delete('before');
      query.delete('filter');
      if (filter.value.trim() !== '') { query.set('filter', filter.value); }
      location.search = query.toString();
    });
  }

  // Ways back: from which page somebody went on to this one.
  const mostWays = 500;
  const here = location.pathname + location.search;
  const link = function (/** @type {string} */ name) {
    const a = section.querySelector('a[data-page="' + name + '"]');
    return a instanceof HTMLAnchorElement ? a : null;
  };
  /** @type {[string, string][]} */
  const ways = kept(sessionStorage, 'sortkey ways') || [];
  const remember = function (/** @type {string} */ to, /** @type {string} */ from) {
    keep(sessionStorage, 'sortkey ways', ways.filter(function (w) { return w[0] !== to; }).concat([[to, from]]).slice(-mostWays));
  };
  const back = function (/** @type {string} */ name, /** @type {string} */ to) {
    const way = ways.find(function (w) { return w[0] === to; }), a = link(name);
    if (!a || !way || a.hasAttribute('href')) { return; }
    a.href = way[1];
    a.hidden = false;
  };
  back('previous', here);
  section.addEventListener('click', function (e) {
    const a = e.target instanceof Element ? e.target.closest('a[data-page^="next"]') : null;
    if (!(a instanceof HTMLAnchorElement)) { return; }
    const to = new URL(a.href);
    remember(to.pathname + to.search, here);
  });

  // Reading on: a filter that few rows meet reads page after page, until this one is full.
  const full = 100, mostReads = 100;
  /**
   * Returns the element that has the same value of an attribute as another.
   * @param {ArrayLike<Element>} all
   * @param {Element} as
   * @param {string} attribute
   */
  const like = function (all, as, attribute) {
    return Array.from(all).find(function (e) { return e.getAttribute(attribute) === as.getAttribute(attribute); });
  };
  /**
   * Adds the rows of a page. Attributes that only they have become columns.
   * @param {HTMLTableElement} to
   * @param {Document} page
   */
  const add = function (to, page) {
    const from = page.getElementById('grid'), head = to.tHead && to.tHead.rows[0];
    if (!(from instanceof HTMLTableElement) || !from.tHead || !head) { return; }
    const titles = Array.from(from.tHead.rows[0].cells), choices = document.querySelector('#columns ul');
    titles.filter(function (th) { return !like(head.cells, th, 'data-column'); }).forEach(function (th) {
      const before = head.cells.length - 1; // the bytes
      head.insertBefore(th.cloneNode(true), head.cells[before]);
      Array.from(to.tBodies[0].rows).forEach(function (tr) { tr.insertCell(before); });
      const choice = like(page.querySelectorAll('#columns li'), th, 'data-column');
      if (choices && choice) { choices.appendChild(choice); }
    });
    Array.from(from.tBodies[0].rows).forEach(function (tr) {
      const cells = new Map(titles.map(function (th, i) { return [idOf(th), tr.cells[i]]; }));
      tr.replaceChildren.apply(tr, Array.from(head.cells).map(function (th) { return cells.get(idOf(th)) || element('td', ''); }));
      to.tBodies[0].appendChild(tr);
    });
    Array.from(to.rows).forEach(function (tr) {
      Array.from(tr.cells).forEach(function (cell, i) { cell.classList.toggle('off', head.cells[i].classList.contains('off')); });
    });

    const legend = document.querySelector('#above .legend'), more = page.querySelector('#above .legend');
    if (!legend && more) { document.querySelectorAll('#key-box').forEach(function (e) { e.after(more); }); }
    if (!legend || !more) { return; }
    Array.from(more.children).forEach(function (mark) {
      const n = mark.lastElementChild, ours = like(legend.children, mark, 'data-kind'), sum = ours && ours.lastElementChild;
      if (!sum || !n) { legend.append(mark, ' '); return; }
      sum.textContent = figure(Number(sum.textContent.replaceAll(',', '')) + Number(n.textContent.replaceAll(',', '')));
    });
  };
  /**
   * Numbers the cells of each column again, by kind and then by what they show: a page ranks its own rows only.
   * @param {HTMLTableElement} of
   */
  const rank = function (of) {
    const kinds = ['s', 'n', 'b', 'word', 'doc'];
    const compare = function (/** @type {HTMLTableCellElement} */ a, /** @type {HTMLTableCellElement} */ b) {
      const x = kinds.indexOf(a.classList[0]), y = kinds.indexOf(b.classList[0]), s = a.textContent || '', t = b.textContent || '';
      return x - y || (kinds[x] === 'n' ? Number(s) - Number(t) : s < t ? -1 : s > t ? 1 : 0);
    };
    Array.from(of.rows[0].cells).slice(0, -1).forEach(function (th) { // the bytes are their own rank
      const cells = Array.from(of.tBodies[0].rows).map(function (tr) { return tr.cells[th.cellIndex]; });
      let n = 0;
      cells.filter(function (td) { return td.dataset.r; }).sort(compare).forEach(function (td, i, all) {
        if (i === 0 || compare(all[i - 1], td) !== 0) { n++; }
        td.dataset.r = String(n);
      });
    });
  };
  /**
   * @param {HTMLTableElement} to
   * @param {HTMLElement} first what the page says of its own read
   */
  const readOn = async function (to, first) {
    const rows = to.tBodies[0].rows, p = element('p', ''), text = p.appendChild(element('span', ''));
    let examined = Number(first.dataset.examined), units = Number(first.dataset.units), stopped = false;
    const stop = p.appendChild(shared.button('Stop', function () { stopped = true; }));
    const tell = function (/** @type {string} */ how) {
      text.textContent = how + 'The filter was applied to ' + count(examined) + ' for ' + figure(units) + ' read units. ';
    };
    p.className = 'small';
    first.textContent = '';
    section.prepend(p);
    document.querySelectorAll('svg.whole').forEach(function (e) { e.remove(); }); // it has the rows of one page
    try {
      for (let n = 0; n < mostReads && rows.length < full && !stopped; n++) {
        const next = link('next');
        if (!next) { break; }
        tell('Reading on. ');
        const r = await fetch(next.href + '&rows=' + (full - rows.length)), body = await r.text();
        const page = new DOMParser().parseFromString(body, 'text/html'), read = page.getElementById('filter-read');
        if (!r.ok || !read) { throw new Error((page.querySelector('[role="alert"]') || page.body).textContent || ''); }
        examined += Number(read.dataset.examined);
        units += Number(read.dataset.units);
        add(to, page);
        ['a[data-page="next"]', 'a[data-page="next-partition"]'].forEach(function (name) {
          const ours = section.querySelector(name), theirs = page.querySelector('#items ' + name);
          if (!ours && theirs) { section.querySelectorAll('.paging').forEach(function (e) { e.append(' ', theirs); }); }
          if (ours && theirs) { ours.replaceWith(theirs); }
          if (ours && !theirs) { ours.remove(); }
        });
        const none = section.querySelector('.empty'), still = page.querySelector('.empty');
        if (none && rows.length > 0) { none.remove(); } else if (none && still) { none.replaceWith(still); }
      }
      tell('');
    } catch (err) {
      tell(String(err) + '. ');
      text.className = 'bad-text';
    }
    stop.remove();
    document.querySelectorAll('#found').forEach(function (e) { e.textContent = count(rows.length); });
    rank(to);
  };
  const filtered = document.getElementById('filter-read');
  if (table instanceof HTMLTableElement && filtered && link('next') && table.tBodies[0].rows.length < full && !/[?&]before=/.test(location.search)) {
    await readOn(table, filtered);
  }

  if (!(table instanceof HTMLTableElement) || !table.tHead) { return; }
  const head = table.tHead.rows[0], body = table.tBodies[0];
  const original = Array.from(body.rows);
  const columns = function () {
    return Array.from(head.cells).filter(function (th) { return th.hasAttribute('data-column'); });
  };
  const itemOf = function (/** @type {Element | null} */ tr) {
    const a = tr && tr.querySelector('a[href^="item?"]');
    return a instanceof HTMLAnchorElement ? a : null;
  };

  // Finding: the rows that have all words. A row that is not shown is not selected either.
  let unpick = function () {};
  const find = document.getElementById('find'), found = document.getElementById('found');
  if (find instanceof HTMLInputElement && found) {
    const all = found.textContent || '';
    const texts = original.map(function (tr) { return (tr.textContent || '').toLowerCase(); });
    const look = function () {
      const words = find.value.toLowerCase().split(/\s+/).filter(function (w) { return w !== ''; });
      let n = 0;
      original.forEach(function (tr, i) {
        const has = words.every(function (w) { return texts[i].indexOf(w) >= 0; });
        tr.classList.toggle('filtered', !has);
        if (has) { n++; }
      });
      unpick();
      found.textContent = words.length > 0 ? n + ' of ' + all : all;
    };
    find.addEventListener('input', look);
    if (find.value !== '') { look(); }
  }

  // Selecting: a box in each row.
  const box = function (/** @type {HTMLTableCellElement} */ cell, /** @type {string} */ label) {
    const input = element('input', '');
    input.type = 'checkbox';
    input.setAttribute('aria-label', label);
    cell.className = 'pick';
    cell.appendChild(input);
    return input;
  };
  const pickAll = box(/** @type {HTMLTableCellElement} */ (head.insertBefore(element('td', ''), head.firstChild)), 'select all rows');
  const picks = original.map(function (tr) {
    const a = itemOf(tr);
    return box(tr.insertCell(0), 'select ' + (a ? a.textContent : 'the row'));
  });
  const bulk = document.getElementById('bulk'), bulkRows = document.getElementById('bulk-rows'), done = document.getElementById('bulk-done');
  const picked = function () { return original.filter(function (_, i) { return picks[i].checked; }); };
  const remove = document.getElementById('bulk-delete');
  const tell = function () {
    const n = picked().length;
    original.forEach(function (tr, i) { tr.classList.toggle('picked', picks[i].checked); });
    pickAll.checked = n > 0 && n === original.length;
    pickAll.indeterminate = n > 0 && n < original.length;
    if (remove) { remove.textContent = 'Delete'; }
    if (bulk && bulkRows) {
      bulk.hidden = n === 0;
      bulkRows.textContent = count(n);
    }
  };
  unpick = function () {
    original.forEach(function (tr, i) { picks[i].checked = picks[i].checked && !tr.classList.contains('filtered'); });
    tell();
  };
  pickAll.addEventListener('change', function () {
    picks.forEach(function (p, i) { p.checked = pickAll.checked && !original[i].classList.contains('filtered'); });
    tell();
  });
  let lastPick = -1;
  picks.forEach(function (p, i) {
    p.addEventListener('click', function (e) {
      const shown = Array.from(body.rows).filter(function (tr) { return !tr.classList.contains('filtered'); });
      const from = lastPick < 0 ? -1 : shown.indexOf(original[lastPick]), to = shown.indexOf(original[i]);
      if (e.shiftKey && from >= 0) {
        shown.slice(Math.min(from, to), Math.max(from, to) + 1).forEach(function (tr) { picks[original.indexOf(tr)].checked = p.checked; });
      }
      lastPick = i;
      tell();
    });
  });
  picks.forEach(function (p) { p.checked = false; }); // a browser that reloads keeps them, but the rows may be others

  // Deleting the rows that are selected, with a list of what was refused.
  const removePicked = async function () {
    if (!bulk || !done || !(remove instanceof HTMLButtonElement)) { return; }
    const path = bulk.dataset.path || '', rows = picked(), on = document.getElementById('bulk-branch');
    const body = JSON.stringify({Rows: rows.map(function (tr) {
      const a = itemOf(tr);
      return {Key: a ? new URL(a.href).searchParams.get('key') : '', Sum: tr.dataset.sum};
    })});
    /** @type {{written: number, units: number, refused: Refusal[], undo: number}} */
    let now = {written: 0, units: 0, refused: [], undo: 0};
    let branch = '', problem = '';
    remove.disabled = true;
    done.textContent = 'deleting ' + count(rows.length) + ' …';
    try {
      if (on instanceof HTMLInputElement && on.checked) { branch = await shared.branch(); }
      now = JSON.parse((await shared.post(branch + path, body)).text);
    } catch (err) {
      problem = String(err instanceof Error ? err.message : err);
    }
    remove.disabled = false;
    if (branch !== '' && now.written === 0) {
      shared.discard(branch);
      branch = '';
    }
    shared.result(done, count(now.written) + ' deleted, ' + now.units + ' write units', now.refused, problem);
    if (branch !== '') {
      const there = element('a', 'Look at the branch');
      there.href = branch + location.pathname.split('/').pop() + location.search;
      done.append(there, ' ');
    } else if (now.undo > 0) {
      const back = shared.button('Undo', function () {});
      back.dataset.undo = String(now.undo);
      done.append(back, ' ');
    } else if (now.undo < 0) {
      done.appendChild(element('p', 'The change cannot be undone: its items are too large together.'));
    }
    const again = done.appendChild(shared.button('Load the rows again', function () { location.reload(); }));
    picks.forEach(function (p) { p.checked = false; });
    tell();
    again.focus();
  };
  if (remove) { shared.confirm(remove, function () { return 'Delete ' + count(picked().length) + ' for good'; }, removePicked); }

  // Sorting: up, down, and as the rows were read.
  const order = document.getElementById('order'), read = order ? order.textContent : '';
  const sort = function (/** @type {HTMLTableCellElement} */ th) {
    const was = th.getAttribute('aria-sort');
    columns().forEach(function (other) { other.removeAttribute('aria-sort'); });
    let rows = original;
    if (was !== 'descending') {
      const down = was === 'ascending', at = th.cellIndex;
      th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rank = function (/** @type {HTMLTableRowElement} */ tr) { return Number(tr.cells[at].dataset.r) || 0; };
      rows = original.slice().sort(function (a, b) {
        const x = rank(a), y = rank(b);
        if (x === 0 || y === 0) { return x === y ? 0 : x === 0 ? 1 : -1; } // those without a value are last
        return down ? y - x : x - y;
      });
    }
    rows.forEach(function (tr) { body.appendChild(tr); });
    if (order) {
      order.textContent = rows === original ? read : 'sorted by ' + th.textContent + (was === 'ascending' ? ', last first' : '') +
        ': only these rows, as the database is in the order of its keys';
    }
  };
  columns().forEach(function (th) {
    const button = th.querySelector('button');
    if (button) { button.addEventListener('click', function () { sort(th); }); }
  });

  // Columns: which of them are shown. The browser keeps the choice.
  const name = 'sortkey hidden ' + section.dataset.place;
  const panel = document.querySelector('#columns ul'), shown = document.getElementById('columns-shown');
  /** @type {Record<string, boolean>} */
  const hidden = Object.create(null); // names such as constructor are those of columns only
  columns().forEach(function (th) { hidden[idOf(th)] = th.classList.contains('off'); });
  /** @type {Record<string, boolean>} */
  let off = Object.assign(Object.create(null), kept(localStorage, name));
  const apply = function () {
    const all = columns();
    all.forEach(function (th) {
      const id = idOf(th), gone = id in off ? off[id] : hidden[id];
      [head].concat(original).forEach(function (tr) { tr.cells[th.cellIndex].classList.toggle('off', gone); });
      const li = panel && Array.from(panel.children).find(function (e) { return idOf(e) === id; }), box = li && li.querySelector('input');
      if (box) { box.checked = !gone; }
    });
    if (shown) {
      shown.textContent = (all.filter(function (th) { return !th.classList.contains('off'); }).length - 1) + ' of ' + (all.length - 1);
    }
  };
  const change = function () {
    apply();
    keep(localStorage, name, off);
  };
  if (panel) {
    Array.from(panel.children).forEach(function (li) {
      const box = li.querySelector('input');
      if (box) { box.addEventListener('change', function () { off[idOf(li)] = !box.checked; change(); }); }
    });
    const reset = document.getElementById('columns-reset');
    if (reset) {
      reset.addEventListener('click', function () {
        off = Object.create(null);
        change();
      });
    }
  }
  apply();

  // Tab reaches one row, the one that was last in use, and arrows go through the rows.
  /** @type {HTMLTableRowElement | null} */
  let current = null;
  const stops = function (/** @type {HTMLTableRowElement} */ tr, /** @type {boolean} */ reached) {
    Array.from(tr.querySelectorAll('a, summary, input')).forEach(function (e) {
      if (reached) { e.removeAttribute('tabindex'); } else { e.setAttribute('tabindex', '-1'); }
    });
  };
  const visit = function (/** @type {HTMLTableRowElement} */ tr) {
    if (current === tr) { return; }
    if (current) { stops(current, false); }
    current = tr;
    stops(tr, true);
  };
  original.forEach(function (tr) { stops(tr, false); });
  if (original.length > 0) { visit(original[0]); }
  body.addEventListener('focusin', function (e) {
    const tr = e.target instanceof Element && e.target.closest('tr');
    if (tr instanceof HTMLTableRowElement) { visit(tr); }
  });
  document.addEventListener('keydown', function (e) {
    const at = e.target instanceof Element ? e.target : null;
    if (e.ctrlKey || e.metaKey || e.altKey || at && at.closest('input:not(.pick input), textarea, select, dialog, summary, #columns')) { return; }
    const tr = at && at.closest('#grid tbody tr');
    const rows = Array.from(body.rows).filter(function (r) { return !r.classList.contains('filtered'); });
    const i = rows.findIndex(function (r) { return r === tr; });
    switch (e.key) {
      case 'ArrowDown': case 'ArrowUp': {
        if (!tr && e.key === 'ArrowUp' || at && at.id === 'grid-scroll') { return; }
        const a = itemOf(rows[Math.min(Math.max(i + (e.key === 'ArrowDown' ? 1 : -1), 0), rows.length - 1)] || null);
        if (a) { a.focus(); e.preventDefault(); }
        break;
      }
      case 'x': {
        if (tr instanceof HTMLTableRowElement) { picks[original.indexOf(tr)].click(); }
        break;
      }
      case 'b': {
        if (bulk && !bulk.hidden && remove) {
          remove.focus();
          e.preventDefault();
        }
        break;
      }
      case 'e': {
        const a = itemOf(tr);
        if (a) { location.href = a.href + '#item'; }
        break;
      }
      case 'n': case 'p': {
        const a = link(e.key === 'n' ? 'next' : 'previous');
        if (a && !a.hidden) { a.click(); }
        break;
      }
    }
  });
})();
