/// <reference path="shared.js" />
// Takes changes back: buttons with the number of a change, also those that a page gets later.
'use strict';
(function () {
  const said = document.getElementById('undo-said');
  if (!said) { return; }
  document.addEventListener('click', async function (e) {
    const button = e.target instanceof Element ? e.target.closest('button[data-undo]') : null;
    if (!(button instanceof HTMLButtonElement)) { return; }
    button.disabled = true;
    said.textContent = '…';
    /** @type {{undone: number, refused: Refusal[]}} */
    let now = {undone: 0, refused: []};
    let problem = '';
    try {
      now = JSON.parse((await shared.post('undo', new URLSearchParams({n: button.dataset.undo || ''}))).text);
    } catch (err) {
      problem = 'Nothing was undone: ' + (err instanceof Error ? err.message : err);
    }
    shared.result(said, now.undone + (now.undone === 1 ? ' item' : ' items') + ' undone', now.refused, problem);
    const again = said.appendChild(shared.button('Load the page again', function () { location.reload(); }));
    again.focus();
  });
})();
