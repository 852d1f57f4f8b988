// The buttons of the page about branches and snapshots.
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
  const said = by('said', HTMLElement);
  /**
   * @param {string} text
   * @param {boolean} [bad]
   */
  const say = function (text, bad) { said.textContent = text; said.classList.toggle('bad', !!bad); };
  Array.prototype.forEach.call(document.querySelectorAll('button[data-post]'), function (/** @type {HTMLButtonElement} */ button) {
    button.addEventListener('click', function () {
      if (button.dataset.sure && button.textContent !== button.dataset.sure) { // asks once more
        button.textContent = button.dataset.sure;
        return;
      }
      const field = button.dataset.name;
      const path = button.dataset.post + (field ? '?' + new URLSearchParams({name: by(field, HTMLInputElement).value}) : '');
      say('…');
      fetch(path, {method: 'POST'}).then(function (r) {
        return r.text().then(function (text) {
          if (!r.ok) { throw new Error(text); }
          location.href = text;
        });
      }).catch(function (err) { say(err.message, true); });
    });
  });
  by('snapshot-name', HTMLElement).addEventListener('keydown', function (e) {
    if (e.key === 'Enter') { by('take', HTMLElement).click(); }
  });
})();
