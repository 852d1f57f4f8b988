// The buttons of the page about branches and snapshots.
'use strict';
(function () {
  const said = document.getElementById('said');
  const say = function (text, bad) { said.textContent = text; said.classList.toggle('bad', !!bad); };
  Array.prototype.forEach.call(document.querySelectorAll('button[data-post]'), function (button) {
    button.addEventListener('click', function () {
      if (button.dataset.sure && button.textContent !== button.dataset.sure) { // asks once more
        button.textContent = button.dataset.sure;
        return;
      }
      const name = button.dataset.name && document.getElementById(button.dataset.name);
      const path = button.dataset.post + (name ? '?' + new URLSearchParams({name: name.value}) : '');
      say('…');
      fetch(path, {method: 'POST'}).then(function (r) {
        return r.text().then(function (text) {
          if (!r.ok) { throw new Error(text); }
          location.href = text;
        });
      }).catch(function (err) { say(err.message, true); });
    });
  });
  const name = document.getElementById('snapshot-name');
  name.addEventListener('keydown', function (e) {
    if (e.key === 'Enter') { document.querySelector('button[data-name]').click(); }
  });
})();
