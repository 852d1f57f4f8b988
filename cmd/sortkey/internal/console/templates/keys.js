// Completes keys while they are typed, and answers the keys of the keyboard that all pages have. Pages work without it.
'use strict';
(function () {
  const dialog = document.getElementById('shortcuts'), close = document.getElementById('shortcuts-close');
  const open = document.getElementById('shortcuts-open'), edit = document.getElementById('item');
  document.addEventListener('keydown', function (e) {
    const at = e.target instanceof Element ? e.target : null;
    if (e.key === 'Escape' && at instanceof HTMLElement && at.closest('input, textarea') && !at.closest('#key-box')) {
      at.blur();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || at && at.closest('input, textarea, select, dialog')) { return; }
    if (e.key === '/') {
      const field = document.querySelector('#key-partition, #request-filter');
      if (!(field instanceof HTMLInputElement)) { return; }
      e.preventDefault();
      const fold = field.closest('details');
      if (fold) { fold.open = true; }
      field.focus();
      field.select();
    }
    if (e.key === '?' && dialog instanceof HTMLDialogElement) { dialog.showModal(); }
    if (e.key === 'e' && edit) {
      e.preventDefault();
      edit.focus();
    }
  });
  if (dialog instanceof HTMLDialogElement && open && close) {
    open.addEventListener('click', function () { dialog.showModal(); });
    close.addEventListener('click', function () { dialog.close(); });
  }
  if (edit && location.hash === '#item') { edit.focus(); }

  // The key box.
  const box = document.getElementById('key-box'), partition = document.getElementById('key-partition');
  const found = document.getElementById('keys-found'), list = document.getElementById('key-list'), note = document.getElementById('key-note');
  if (!box || !(partition instanceof HTMLInputElement) || !found || !list || !note) { return; }
  const second = document.getElementById('key-sort'), sort = second instanceof HTMLInputElement ? second : null;
  /**
   * Keys that are offered, as the server sends them.
   * @typedef {{text: string, typed: string, link: string}} Key
   * @typedef {{keys: Key[], all?: string, note: string}} Offers
   */
  /** @type {Offers} */
  const nothing = {keys: [], note: ''};
  let offers = nothing, chosen = -1, asked = 0, timer = 0;
  /** @type {AbortController | null} */
  let running = null;
  /** @type {Promise<void>} */
  let answer = Promise.resolve();
  let field = partition;

  const hide = function () {
    found.hidden = true;
    offers = nothing;
    chosen = -1;
    [partition, sort].forEach(function (e) {
      if (e) { e.setAttribute('aria-expanded', 'false'); e.removeAttribute('aria-activedescendant'); }
    });
  };
  const choose = function (/** @type {number} */ i) {
    chosen = i;
    Array.from(list.children).forEach(function (li, k) {
      li.setAttribute('aria-selected', String(k === i));
      if (k === i) { li.scrollIntoView({block: 'nearest'}); }
    });
    if (i >= 0) { field.setAttribute('aria-activedescendant', 'key-' + i); } else { field.removeAttribute('aria-activedescendant'); }
  };
  const show = function (/** @type {Offers} */ now) {
    offers = now;
    note.textContent = now.note;
    list.textContent = '';
    now.keys.forEach(function (key, i) {
      const li = document.createElement('li');
      li.id = 'key-' + i;
      li.setAttribute('role', 'option');
      li.textContent = key.text;
      li.addEventListener('pointerdown', function (e) { // before the field loses the focus
        e.preventDefault();
        choose(i);
        take();
      });
      list.appendChild(li);
    });
    found.hidden = false;
    field.setAttribute('aria-expanded', String(now.keys.length > 0));
    choose(-1);
  };
  const ask = function () {
    clearTimeout(timer);
    if (running) { running.abort(); }
    const mine = ++asked, stop = new AbortController();
    running = stop;
    /** @type {Record<string, string>} */
    const query = {name: box.dataset.name || '', index: box.dataset.index || '', prefix: field.value};
    if (field === sort) { query.partition = partition.value; }
    answer = fetch('keys?' + new URLSearchParams(query), {signal: stop.signal}).then(function (r) {
      return r.ok ? r.json() : r.text().then(function (text) { throw new Error(text); });
    }).then(function (now) {
      if (mine === asked) { show(now); }
    }, function (err) {
      if (mine === asked) { show({keys: [], note: err.message}); }
    });
  };
  const soon = function () {
    ++asked;
    clearTimeout(timer);
    timer = setTimeout(function () { ask(); }, 60);
  };
  /** Opens the key that is chosen, or goes on to the sort key. */
  const take = function () {
    const key = offers.keys[chosen];
    if (field === sort) {
      const to = key ? key.link : offers.all;
      if (to) { location.href = to; }
      return;
    }
    if (sort) {
      if (key) { partition.value = key.typed; }
      if (partition.value === '') { return; }
      sort.focus(); // which asks
      return;
    }
    const to = key || offers.keys.find(function (k) { return k.typed === partition.value || k.text === partition.value; }) ||
      (offers.keys.length === 1 ? offers.keys[0] : null);
    if (to) { location.href = to.link; }
  };
  [partition, sort].forEach(function (e) {
    if (!e) { return; }
    e.addEventListener('input', function () { field = e; soon(); });
    e.addEventListener('focus', function () { field = e; hide(); if (e === sort && partition.value === '') { return; } ask(); });
    e.addEventListener('blur', function () { ++asked; clearTimeout(timer); hide(); });
    e.addEventListener('keydown', function (key) {
      const n = offers.keys.length;
      switch (key.key) {
        case 'ArrowDown': case 'ArrowUp':
          key.preventDefault();
          if (n > 0) { choose(key.key === 'ArrowDown' ? (chosen + 1) % n : (chosen <= 0 ? n : chosen) - 1); }
          break;
        case 'Enter':
          key.preventDefault();
          if (chosen >= 0) { take(); return; }
          if (e === partition && sort) { take(); return; }
          ask(); // what is offered may be for less than what was typed
          answer.then(take);
          break;
        case 'Tab':
          if (chosen >= 0 && !key.shiftKey) { e.value = offers.keys[chosen].typed; }
          break;
        case 'Escape':
          if (found.hidden) { e.blur(); } else { hide(); }
          break;
      }
    });
  });
})();
