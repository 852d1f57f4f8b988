// Sends a file to import.
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
  const file = by('import-file', HTMLInputElement), button = by('import', HTMLButtonElement), said = by('imported', HTMLElement);
  button.addEventListener('click', function () {
    const chosen = file.files && file.files[0];
    if (!chosen) {
      said.textContent = 'Choose a file first.';
      file.focus();
      return;
    }
    button.disabled = true;
    said.textContent = 'importing ' + chosen.name + ' …';
    const path = by('transfer', HTMLElement).dataset.path + '&' + new URLSearchParams({file: chosen.name});
    fetch(path, {method: 'POST', body: chosen}).then(function (r) {
      return r.text().then(function (text) { said.textContent = text; });
    }, function (err) {
      said.textContent = err.message;
    }).finally(function () { button.disabled = false; });
  });
})();
