// The buttons of the page about branches.
'use strict';
(function () {
  const said = document.getElementById('said');
  Array.prototype.forEach.call(document.querySelectorAll('button[data-post]'), function (button) {
    button.addEventListener('click', function () {
      said.textContent = '…';
      fetch(button.dataset.post, {method: 'POST'}).then(function (r) {
        return r.text().then(function (text) {
          if (!r.ok) { throw new Error(text); }
          location.href = text;
        });
      }).catch(function (err) { said.textContent = err.message; said.className = 'bad'; });
    });
  });
})();
