// Sends a file to import.
'use strict';
(function () {
  const by = function (id) { return document.getElementById(id); };
  const file = by('import-file'), button = by('import'), said = by('imported');
  button.addEventListener('click', function () {
    const chosen = file.files[0];
    if (!chosen) {
      said.textContent = 'Choose a file first.';
      file.focus();
      return;
    }
    button.disabled = true;
    said.textContent = 'importing ' + chosen.name + ' …';
    const path = by('transfer').dataset.path + '&' + new URLSearchParams({file: chosen.name});
    fetch(path, {method: 'POST', body: chosen}).then(function (r) {
      return r.text().then(function (text) { said.textContent = text; });
    }, function (err) {
      said.textContent = err.message;
    }).finally(function () { button.disabled = false; });
  });
})();
