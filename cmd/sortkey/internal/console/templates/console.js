// Edits an item. The page works without it, but only shows.
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
  if (!document.getElementById('edit')) { return; }
  const edit = by('edit', HTMLElement), item = by('item', HTMLTextAreaElement);
  const said = by('said', HTMLElement), written = by('preview', HTMLElement);
  // The item as the server wrote it: the box may hold what was typed before this script ran, or before a reload.
  const was = edit.dataset.found === 'true' ? item.defaultValue : '';
  const where = '?' + new URLSearchParams({name: edit.dataset.table || '', key: edit.dataset.key || ''});
  /**
   * Sends the item as it was and as it is to be.
   * @param {string} path
   * @param {string} is
   */
  const send = function (path, is) {
    return fetch(path + where, {method: 'POST', body: JSON.stringify({Was: was, Is: is})}).then(function (r) {
      return r.text().then(function (text) {
        if (!r.ok) { throw new Error(text); }
        return {text: text, at: r.headers.get('Content-Location')};
      });
    });
  };
  /**
   * @param {string} text
   * @param {boolean} [bad]
   */
  const say = function (text, bad) { said.textContent = text; said.classList.toggle('bad', !!bad); };
  let timer = 0, asked = 0;
  const preview = function () {
    clearTimeout(timer);
    timer = setTimeout(function () {
      const mine = ++asked;
      const show = function (/** @type {string} */ text) { if (mine === asked) { written.textContent = text; } };
      send('preview', item.value).then(function (r) { show(r.text); }, function (err) { show(err.message); });
    }, 150);
  };
  item.addEventListener('input', preview);
  if (item.value !== item.defaultValue) { preview(); }
  /**
   * @param {string} path
   * @param {string} is
   */
  const write = function (path, is) {
    say('…');
    send(path, is).then(function (r) {
      say(r.text);
      setTimeout(function () { if (r.at) { location.href = r.at; } else { location.reload(); } }, 600);
    }, function (err) { say(err.message, true); });
  };
  by('put', HTMLElement).addEventListener('click', function () { write('put', item.value); });
  const remove = document.getElementById('delete');
  if (remove) {
    remove.addEventListener('click', function () {
      if (remove.textContent === 'Delete') {
        remove.textContent = 'Delete it';
        return;
      }
      write('delete', '');
    });
  }
})();
