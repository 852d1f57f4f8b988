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
    let undone = 0;
    /** @type {{key: string, why: string}[]} */
    const refused = [];
    /** @returns {Promise<void>} */
    const next = function () {
      return fetch('undo', {method: 'POST', body: new URLSearchParams({n: button.dataset.undo || ''})}).then(function (r) {
        return r.text().then(function (text) {
          if (!r.ok) { throw new Error(text); }
          const now = JSON.parse(text);
          undone += now.undone;
          refused.push.apply(refused, now.refused);
          said.textContent = count(undone) + ' undone …';
          return now.left > 0 ? next() : undefined;
        });
      });
    };
    next().then(function () { return ''; }, function (/** @type {Error} */ err) { return err.message; }).then(function (problem) {
      said.textContent = '';
      const p = document.createElement('p');
      p.textContent = (undone > 0 || problem === '' ? count(undone) + ' undone' : 'Nothing was undone') +
        (refused.length > 0 ? '; ' + refused.length + ' refused:' : '') + (problem ? ': ' + problem : '');
      p.classList.toggle('bad-text', refused.length > 0 || problem !== '');
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
