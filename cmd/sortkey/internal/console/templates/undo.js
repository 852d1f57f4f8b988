// Takes changes back: buttons with the number of a change, also those that a page gets later.
'use strict';
(function () {
  const said = document.getElementById('undo-said');
  if (!said) { return; }
  const count = function (/** @type {number} */ n) { return n + (n === 1 ? ' item' : ' items'); };
  document.addEventListener('click', function (e) {
    const button = e.target instanceof Element ? e.target.closest('button[data-undo]') : null;
    if (!(button instanceof HTMLButtonElement)) { return; }
    button.disabled = true;
    said.textContent = '…';
    fetch('undo', {method: 'POST', body: new URLSearchParams({n: button.dataset.undo || ''})}).then(function (r) {
      return r.text().then(function (text) { return r.ok ? JSON.parse(text) : {undone: 0, refused: [], problem: text}; });
    }).catch(function (/** @type {Error} */ err) {
      return {undone: 0, refused: [], problem: err.message};
    }).then(function (/** @type {{undone: number, refused: {key: string, why: string}[], problem?: string}} */ now) {
      const refused = now.refused;
      said.textContent = '';
      const p = document.createElement('p');
      p.textContent = now.problem ? 'Nothing was undone: ' + now.problem :
        count(now.undone) + ' undone' + (refused.length > 0 ? '; ' + refused.length + ' refused:' : '');
      p.classList.toggle('bad-text', refused.length > 0 || !!now.problem);
      said.appendChild(p);
      const list = document.createElement('ul');
      refused.forEach(function (r) {
        const li = document.createElement('li');
        li.textContent = r.key + ': ' + r.why;
        list.appendChild(li);
      });
      if (refused.length > 0) { said.appendChild(list); }
      const again = document.createElement('button');
      again.type = 'button';
      again.textContent = 'Load the page again';
      again.addEventListener('click', function () { location.reload(); });
      said.appendChild(again);
      again.focus();
    });
  });
})();
