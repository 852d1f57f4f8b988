/// <reference path="shared.js" />
// Edits an item, as plain JSON or DynamoDB JSON. The page works without it, but only
// shows.
'use strict';
(function () {
  const by = shared.by;
  if (!document.getElementById('edit')) { return; }
  const edit = by('edit', HTMLElement), item = by('item', HTMLTextAreaElement);
  const said = by('said', HTMLElement), written = by('preview', HTMLElement);
  const where = '?' + new URLSearchParams({name: edit.dataset.table || '', key: edit.dataset.key || ''});
  /** @typedef {'plain' | 'typed'} View */
  const first = /** @type {View} */ (by('typed', HTMLInputElement).defaultChecked ? 'typed' : 'plain');
  let view = first;

  /** Returns the item as it is to be. */
  const state = function () {
    return JSON.stringify({Is: item.value, Plain: view === 'plain'});
  };
  /**
   * Sends an item as it is to be, and the sum of the one that the page got.
   * @param {string} path
   * @param {string} is
   * @param {string} [to]
   */
  const send = function (path, is, to) {
    return shared.post(path + where, JSON.stringify(Object.assign({Sum: edit.dataset.sum, To: to || ''}, JSON.parse(is))));
  };
  /**
   * @param {string} text
   * @param {boolean} [bad]
   */
  const say = function (text, bad) { shared.say(said, text, bad); };
  let timer = 0, asked = 0, seen = ''; // what is to be, when its difference was shown
  const show = function () {
    const mine = ++asked, is = state();
    clearTimeout(timer);
    return send('preview', is).then(function (r) {
      if (mine !== asked) { return; }
      written.innerHTML = r.text;
      seen = is;
    }, function (err) {
      if (mine !== asked) { return; }
      written.textContent = err.message;
      seen = '';
    });
  };
  const changed = function () {
    say('');
    clearTimeout(timer);
    timer = setTimeout(show, 150);
  };
  item.addEventListener('input', changed);

  // Putting and deleting.
  /**
   * @param {string} path
   * @param {string} is
   * @param {string} [branch] the address of a branch to write in
   */
  const write = function (path, is, branch) {
    say('…');
    return send((branch || '') + path, is).then(function (r) {
      say(r.text);
      setTimeout(function () { if (r.at) { location.href = (branch || '') + r.at; } else { location.reload(); } }, 600);
    }, function (err) {
      say(err.message, true);
      if (branch) { shared.discard(branch); }
    });
  };
  const put = function (/** @type {() => void} */ then) {
    if (seen === state() && seen !== '') { then(); return; }
    show().then(function () {
      if (seen === state()) { say('This is what changes: put again to write it.'); } else { say('Nothing was written.', true); }
    });
  };
  const putHere = function () { put(function () { write('put', seen); }); };
  by('put', HTMLElement).addEventListener('click', putHere);
  edit.addEventListener('keydown', function (e) {
    if (e.key !== 'Enter' || !e.ctrlKey && !e.metaKey) { return; }
    e.preventDefault();
    putHere();
  });
  const onBranch = document.getElementById('put-on-branch');
  if (onBranch) {
    onBranch.addEventListener('click', function () {
      put(function () {
        const is = seen;
        shared.branch().then(function (branch) { return write('put', is, branch); }, function (err) { say(err.message, true); });
      });
    });
  }

  // The views, of which the browser keeps the last.
  const name = 'sortkey view';
  const kept = function () { try { return localStorage.getItem(name); } catch { return null; } };
  const radio = function (/** @type {View} */ of) { return by({plain: 'as-plain', typed: 'typed'}[of], HTMLInputElement); };
  let turning = Promise.resolve();
  const turn = function (/** @type {View} */ to) {
    turning = turning.then(function () {
      if (to === view) { return; }
      const is = state();
      return send('convert', is, to).then(function (r) {
        if (is !== state()) { throw new Error('The item was changed meanwhile: choose the view again.'); }
        item.value = r.text;
        view = to;
        seen = '';
        say('');
        if (written.textContent !== '') { show(); }
      });
    }).catch(function (/** @type {Error} */ err) { say(err.message, true); }).then(function () { radio(view).checked = true; });
    return turning;
  };
  (/** @type {View[]} */ (['plain', 'typed'])).forEach(function (of) {
    radio(of).addEventListener('change', function () {
      turn(of).then(function () { try { localStorage.setItem(name, view); } catch { /* not allowed */ } });
    });
  });
  radio(view).checked = true;
  item.value = item.defaultValue; // a browser that reloads keeps the text, but not its form
  const last = kept();
  if (last === 'typed') { turn(last); }

  const remove = document.getElementById('delete');
  if (remove) {
    shared.confirm(remove, function () { return 'Delete it'; }, function () { write('delete', JSON.stringify({Is: ''})); });
  }
})();
