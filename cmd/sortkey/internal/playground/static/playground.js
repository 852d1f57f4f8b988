// The playground is the page of a model without a server: its requests go to a worker, which runs sortkey
// itself. Examples are files beside the page; the reader's own model is kept in the browser.
'use strict';
(function () {
  const by = function (id) { return document.getElementById(id); };
  const status = by('status'), text = by('text'), example = by('example');
  const events = new EventTarget();
  const say = function (words, bad) { status.textContent = words; status.classList.toggle('bad', !!bad); };

  // The model of the reader, or null. A page inside another one is about the model of its link, and keeps nothing.
  const inside = window !== window.parent;
  const store = {
    get: function () { try { return inside ? null : localStorage.getItem('sortkey-model'); } catch (_) { return null; } },
    set: function (model) {
      if (inside) { return; }
      try {
        if (model === null) {
          localStorage.removeItem('sortkey-model');
        } else {
          localStorage.setItem('sortkey-model', model);
        }
      } catch (_) { /* a browser that keeps nothing */ }
    }
  };

  // A request to the worker; the answer has the form of fetch.
  let worker = null, asked = 0, failed = null;
  const waiting = new Map();
  const send = function (path, options) {
    return new Promise(function (resolve, reject) {
      if (failed) { reject(failed); return; }
      const id = ++asked;
      waiting.set(id, {resolve: resolve, reject: reject});
      const body = options && options.body || '';
      worker.postMessage({
        id: id, path: path, method: options && options.method || 'GET', body: String(body),
        type: body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'text/plain'
      });
    });
  };
  const loaded = new Promise(function (resolve, reject) {
    const fail = function (reason) {
      failed = new Error('The engine does not run: ' + reason + '.');
      reject(failed);
      waiting.forEach(function (w) { w.reject(failed); });
      waiting.clear();
      say(failed.message, true);
    };
    try {
      worker = new Worker('worker.js');
    } catch (err) { // a page from a file, not from a server
      fail(err.message);
      return;
    }
    worker.onerror = function (e) { fail(e.message || 'worker.js cannot be loaded'); };
    worker.onmessage = function (e) {
      const m = e.data, w = waiting.get(m.id);
      if (w) {
        waiting.delete(m.id);
        w.resolve(new Response(m.body, {status: m.status}));
      } else if (m.event === 'ready') {
        performance.mark('engine compiled');
        resolve();
      } else if (m.event === 'failed') {
        fail(m.reason);
      } else {
        events.dispatchEvent(new Event(m.event));
      }
    };
  });

  const load = function (path) {
    return fetch(path).then(function (r) {
      if (!r.ok) { throw new Error(path + ' cannot be loaded: ' + r.status + ' ' + r.statusText); }
      return r.text();
    });
  };

  // The engine starts with the model of the reader, or with the example whose page this is. A model with
  // errors has no page: it follows the example.
  const post = function (path, body) { return send(path, {method: 'POST', body: body}); };
  const begin = function (model) {
    if (model === null) {
      return load('start.json').then(function (source) { return post('start', source); }).then(function (r) {
        if (!r.ok) { return r.text().then(function (why) { throw new Error(why); }); }
      });
    }
    return post('start', JSON.stringify({text: model})).then(function (r) {
      if (r.ok) { return null; }
      return begin(null).then(function () { return send('source'); }).then(function (r) {
        return r.json();
      }).then(function (s) { return post('source?version=' + s.version, model); });
    });
  };
  // A link names a file of the examples, as ?model=shop, which is first then. The address is without it once the
  // reader has another model.
  const forget = function () { history.replaceState(null, '', location.pathname + location.hash); };
  let own = store.get(), linked = new URLSearchParams(location.search).get('model');
  const question = 'Replace your model by ' + linked + '? What you have written is kept nowhere else.';
  const isName = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/;
  if (linked !== null && (!isName.test(linked) || own !== null && !confirm(question))) {
    linked = null;
    forget();
  }
  if (linked !== null) { own = null; }
  if (own !== null || linked !== null) { // the page is about an example so far
    example.value = Array.from(example.options).some(function (o) { return o.value === linked; }) ? linked : '';
    by('query-partition').value = '';
  }
  // The source can be read before the engine is there.
  const given = linked === null ? Promise.resolve(own) : load('examples/' + linked + '.yaml');
  given.then(function (model) { if (model !== null) { text.value = model; } }, function () { /* said below */ });
  const started = loaded.then(function () {
    return given.then(function (model) {
      if (linked !== null) { store.set(null); }
      return begin(model);
    });
  });
  started.then(function () {
    performance.mark('engine started');
    if (own === null && linked === null) { say('up to date'); }
  }, function (err) {
    say(err.message, true);
    by('buttons').disabled = false; // the model can be downloaded all the same
  });

  window.sortkeyProgram = {
    fetch: function (path, options) { return started.then(function () { return send(path, options); }); },
    events: function () { return events; }
  };

  // The buttons of the model.
  let safe = own === null; // the text is an example, a file, or downloaded
  const replace = function (model, name) {
    text.value = model;
    text.dispatchEvent(new Event('input'));
    safe = true;
    example.value = name;
    document.querySelectorAll('#query input').forEach(function (e) { // they were about the other model
      if (e.type === 'checkbox') { e.checked = false; } else { e.value = ''; }
    });
    if (name !== '') { store.set(null); }
  };
  const mayReplace = function () {
    return safe || confirm('Replace your model? What you have written is kept nowhere else.');
  };
  text.addEventListener('input', function () {
    safe = false;
    example.value = '';
    store.set(text.value);
    forget();
  });
  example.addEventListener('change', function () {
    const name = example.value;
    if (name === '' || !mayReplace()) { example.value = ''; return; }
    load('examples/' + name + '.yaml').then(function (model) { replace(model, name); }).catch(function (err) {
      say(err.message, true);
    });
  });
  by('open').addEventListener('click', function () { by('file').click(); });
  by('file').addEventListener('change', function () {
    const file = by('file').files[0];
    if (!file || !mayReplace()) { return; }
    file.text().then(function (model) { replace(model, ''); }).catch(function (err) { say(err.message, true); });
    by('file').value = ''; // so that the same file can be opened again
  });
  by('download').addEventListener('click', function () {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text.value], {type: 'application/yaml'}));
    link.download = 'model.yaml';
    link.click();
    URL.revokeObjectURL(link.href);
    safe = true;
  });
})();
