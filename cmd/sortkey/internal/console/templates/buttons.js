/// <reference path="shared.js" />
// Buttons that have the server do something, and lead to the next page. Those
// with a data-sure have it as their text after a first click, and act after a second one.
'use strict';
(function () {
  const said = document.getElementById('said');
  if (!said) { return; }
  document.querySelectorAll('button[data-post]').forEach(function (button) {
    if (!(button instanceof HTMLButtonElement)) { return; }
    const data = button.dataset;
    shared.confirm(button, function () { return data.sure || ''; }, async function () {
      shared.say(said, '…');
      try {
        location.href = (await shared.post(data.post || '', new URLSearchParams())).text;
      } catch (err) {
        shared.say(said, String(err instanceof Error ? err.message : err), true);
      }
    });
  });
})();
