/// <reference path="shared.js" />
// Buttons that have the server do something with the fields that they name, and lead to the next page. Those
// with a data-sure have it as their text after a first click, and act after a second one.
'use strict';
(function () {
  const said = document.getElementById('said');
  if (!said) { return; }
  document.querySelectorAll('button[data-post]').forEach(function (button) {
    if (!(button instanceof HTMLButtonElement)) { return; }
    const data = button.dataset;
    const fields = (data.fields || '').split(' ').filter(Boolean).map(function (id) {
      const e = document.getElementById(id);
      if (!(e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement)) { throw new Error('the page has no ' + id); }
      if (e instanceof HTMLInputElement) {
        e.addEventListener('keydown', function (key) { if (key.key === 'Enter') { button.click(); } });
      }
      return e;
    });
    shared.confirm(button, function () { return data.sure || ''; }, async function () {
      shared.say(said, '…');
      try {
        const body = new URLSearchParams(fields.map(function (e) { return [e.name, e.value]; }));
        location.href = (await shared.post(data.post || '', body)).text;
      } catch (err) {
        shared.say(said, String(err instanceof Error ? err.message : err), true);
      }
    });
  });
})();
