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
  const edit = by('edit', HTMLElement), item = by('item', HTMLTextAreaElement), typed = by('typed', HTMLInputElement);
  const said = by('said', HTMLElement), written = by('preview', HTMLElement);
  const where = '?' + new URLSearchParams({name: edit.dataset.table || '', key: edit.dataset.key || ''});
  let plain = !typed.defaultChecked;
  /**
   * Sends the item as it is to be, and the sum of the one that the page got.
   * @param {string} path
   * @param {string} is
   */
  const send = function (path, is) {
    return fetch(path + where, {method: 'POST', body: JSON.stringify({Sum: edit.dataset.sum, Is: is, Plain: plain})}).then(function (r) {
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
  let timer = 0, asked = 0, seen = ''; // the text whose difference is shown
  const show = function () {
    const mine = ++asked, text = item.value;
    clearTimeout(timer);
    return send('preview', text).then(function (r) {
      if (mine !== asked) { return; }
      written.innerHTML = r.text;
      seen = text;
    }, function (err) {
      if (mine !== asked) { return; }
      written.textContent = err.message;
      seen = '';
    });
  };
  const soon = function () {
    clearTimeout(timer);
    timer = setTimeout(show, 150);
  };
  item.addEventListener('input', function () { say(''); soon(); });
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
  const put = function () {
    if (seen === item.value && seen !== '') { write('put', seen); return; }
    show().then(function () {
      if (seen === item.value) { say('This is what changes: put again to write it.'); } else { say('Nothing was written.', true); }
    });
  };
  by('put', HTMLElement).addEventListener('click', put);
  item.addEventListener('keydown', function (e) {
    if (e.key !== 'Enter' || !e.ctrlKey && !e.metaKey) { return; }
    e.preventDefault();
    put();
  });

  // The switch between plain JSON and DynamoDB JSON, which the browser keeps.
  const name = 'sortkey typed';
  const kept = function () { try { return localStorage.getItem(name); } catch { return null; } };
  const convert = function () {
    return send('convert', item.value).then(function (r) {
      item.value = r.text;
      plain = !plain;
      seen = '';
      say('');
      if (written.textContent !== '') { show(); }
    }, function (err) { say(err.message, true); }).then(function () { typed.checked = !plain; });
  };
  typed.addEventListener('change', function () {
    convert().then(function () { try { localStorage.setItem(name, String(typed.checked)); } catch { /* not allowed */ } });
  });
  typed.checked = !plain;
  item.value = item.defaultValue; // a browser that reloads keeps the text, but not its form
  if (kept() === 'true' && plain) { convert(); }

  const remove = document.getElementById('delete');
  if (remove) {
    remove.addEventListener('click', function (e) {
      if (e.detail > 1) { return; } // the rest of a double click confirms nothing
      if (remove.textContent === 'Delete') {
        remove.textContent = 'Delete it';
        return;
      }
      write('delete', '');
    });
  }
})();
