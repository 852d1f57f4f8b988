// Buttons that have the server do something with the fields that they name, and lead to the next page. Those
// with a data-sure have it as their text after a first click, and act after a second one.
'use strict';
(function () {
  const said = document.getElementById('said');
  if (!said) { return; }
  /**
   * @param {string} text
   * @param {boolean} [bad]
   */
  const say = function (text, bad) { said.textContent = text; said.classList.toggle('bad', !!bad); };
  Array.prototype.forEach.call(document.querySelectorAll('button[data-post]'), function (/** @type {HTMLButtonElement} */ button) {
    const names = (button.dataset.fields || '').split(' ').filter(function (id) { return id !== ''; });
    const fields = names.map(function (id) {
      const e = document.getElementById(id);
      if (!(e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement)) {
        throw new Error('the page has no ' + id);
      }
      if (e instanceof HTMLInputElement) {
        e.addEventListener('keydown', function (key) { if (key.key === 'Enter') { button.click(); } });
      }
      return e;
    });
    const sure = button.dataset.sure, asked = button.textContent;
    if (sure) { button.addEventListener('blur', function () { button.textContent = asked; }); }
    button.addEventListener('click', function (e) {
      if (e.detail > 1) { return; } // the rest of a double click confirms nothing
      if (sure && button.textContent !== sure) { button.textContent = sure; return; }
      const body = new URLSearchParams(fields.map(function (e) { return [e.name, e.value]; }));
      say('…');
      fetch(button.dataset.post || '', {method: 'POST', body: body}).then(function (r) {
        return r.text().then(function (text) {
          if (!r.ok) { throw new Error(text); }
          location.href = text;
        });
      }).catch(function (err) { say(err.message, true); });
    });
  });
})();
