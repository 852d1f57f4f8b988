/// <reference path="shared.js" />
// Edits an item, in plain JSON or DynamoDB JSON. The page works without it, but only
// shows.
'use strict';
(function () {
  const by = shared.by;
  if (!document.getElementById('edit')) { return; }
  const edit = by('edit', HTMLElement), item = by('item', HTMLTextAreaElement);
  const said = by('said', HTMLElement), written = by('preview', HTMLElement);
  const where = '?' + new URLSearchParams({name: edit.dataset.table || '', key: edit.dataset.key || ''});

  /** Returns the item as it is to be. */
  const state = function () { return item.value; };
  /**
   * Sends an item as it is to be, and the sum of the one that the page got.
   * @param {string} path
   * @param {string} is
   */
  const send = function (path, is) {
    return shared.post(path + where, JSON.stringify({Sum: edit.dataset.sum, Is: is}));
  };
  /**
   * @param {string} text
   * @param {boolean} [bad]
   */
  const say = function (text, bad) { shared.say(said, text, bad); };
  let timer = 0, asked = 0;
  /** @type {string | null} */
  let seen = null; // what is to be, when its difference was shown
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
      seen = null;
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
    if (seen === state()) { then(); return; }
    show().then(function () {
      if (seen === state()) { say('This is what changes: put again to write it.'); } else { say('Nothing was written.', true); }
    });
  };
  const putHere = function () { put(function () { write('put', state()); }); };
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
        const is = state();
        shared.branch().then(function (branch) { return write('put', is, branch); }, function (err) { say(err.message, true); });
      });
    });
  }

  item.value = item.defaultValue; // a browser that reloads keeps the text, but not its form

  const remove = document.getElementById('delete');
  if (remove) {
    shared.confirm(remove, function () { return 'Delete it'; }, function () {
      const rows = JSON.stringify({Rows: [{Key: edit.dataset.key, Sum: edit.dataset.sum}]});
      say('…');
      shared.post('bulk-delete?' + new URLSearchParams({name: edit.dataset.table || ''}), rows).then(function (r) {
        const refused = JSON.parse(r.text).refused;
        if (refused.length > 0) { say(refused[0].why, true); return; }
        say('deleted');
        setTimeout(function () { location.reload(); }, 600);
      }, function (err) { say(err.message, true); });
    });
  }
})();
