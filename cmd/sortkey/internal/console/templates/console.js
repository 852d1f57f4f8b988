// Edits an item. The page works without it, but only shows.
'use strict';
(function () {
  const by = function (id) { return document.getElementById(id); };
  const edit = by('edit'), item = by('item'), said = by('said'), written = by('preview');
  // The item as the server wrote it: the box may hold what was typed before this script ran, or before a reload.
  const was = edit.dataset.found === 'true' ? item.defaultValue : '';
  const where = '?' + new URLSearchParams({name: edit.dataset.table, key: edit.dataset.key});
  const send = function (path, is) {
    return fetch(path + where, {method: 'POST', body: JSON.stringify({Was: was, Is: is})}).then(function (r) {
      return r.text().then(function (text) {
        if (!r.ok) { throw new Error(text); }
        return text;
      });
    });
  };
  const say = function (text, bad) { said.textContent = text; said.classList.toggle('bad', !!bad); };
  let timer = 0, asked = 0;
  const preview = function () {
    clearTimeout(timer);
    timer = setTimeout(function () {
      const mine = ++asked;
      const show = function (text) { if (mine === asked) { written.textContent = text; } };
      send('preview', item.value).then(show, function (err) { show(err.message); });
    }, 150);
  };
  item.addEventListener('input', preview);
  if (item.value !== item.defaultValue) { preview(); }
  const write = function (path, is) {
    say('…');
    send(path, is).then(function (text) {
      say(text);
      setTimeout(function () { location.reload(); }, 600);
    }, function (err) { say(err.message, true); });
  };
  by('put').addEventListener('click', function () { write('put', item.value); });
  if (by('delete')) {
    by('delete').addEventListener('click', function () {
      if (by('delete').textContent === 'Delete') {
        by('delete').textContent = 'Delete it';
        return;
      }
      write('delete', '');
    });
  }
})();
