/// <reference path="shared.js" />
// Edits an item, in one of three views of it: a form, plain JSON or DynamoDB JSON. The page works without it, but only
// shows.
'use strict';
(function () {
  const by = shared.by;
  if (!document.getElementById('edit')) { return; }
  const edit = by('edit', HTMLElement), item = by('item', HTMLTextAreaElement), form = by('fields', HTMLElement);
  const list = by('field-list', HTMLElement), said = by('said', HTMLElement), written = by('preview', HTMLElement);
  const where = '?' + new URLSearchParams({name: edit.dataset.table || '', key: edit.dataset.key || ''});
  /** @typedef {'fields' | 'plain' | 'typed'} View */
  const first = /** @type {View} */ (by('typed', HTMLInputElement).defaultChecked ? 'typed' : 'plain');
  let view = first;

  /**
   * An attribute of the form, as the server sends and reads it.
   * @typedef {{name: string, shown?: string, type: string, value: string, key?: boolean}} Field
   */
  /** @type {Field[]} */
  let fields = [];

  /** Returns the item as it is to be. */
  const state = function () {
    return view === 'fields' ? JSON.stringify({Fields: fields}) : JSON.stringify({Is: item.value, Plain: view === 'plain'});
  };
  /**
   * Sends an item as it is to be, and the sum of the one that the page got.
   * @param {string} path
   * @param {string} is
   * @param {string} [to]
   */
  const send = function (path, is, to) {
    return shared.post(path + where, JSON.stringify(Object.assign({Sum: edit.dataset.sum, To: to || ''}, JSON.parse(is))));
  };
  /**
   * @param {string} text
   * @param {boolean} [bad]
   */
  const say = function (text, bad) { shared.say(said, text, bad); };
  let timer = 0, asked = 0, seen = ''; // what is to be, when its difference was shown
  const show = function () {
    const mine = ++asked, is = state();
    clearTimeout(timer);
    return send('preview', is).then(function (r) {
      if (mine !== asked) { return; }
      written.innerHTML = r.text;
      seen = is;
    }, function (err) {
      if (mine !== asked) { return; }
      written.textContent = err.message;
      seen = '';
    });
  };
  const changed = function () {
    say('');
    clearTimeout(timer);
    timer = setTimeout(show, 150);
  };
  item.addEventListener('input', changed);

  // The form: a row for each attribute.
  /** @type {[string, string][]} */
  const types = [
    ['S', 'text'], ['N', 'number'], ['BOOL', 'true or false'], ['NULL', 'null'], ['B', 'binary (base64)'], ['M', 'map'], ['L', 'list'],
    ['SS', 'set of texts'], ['NS', 'set of numbers'], ['BS', 'set of binary'], ['JSON', 'DynamoDB JSON']
  ];
  /**
   * Returns the control for the value of a field.
   * @param {Field} field
   * @param {string} name
   */
  const control = function (field, name) {
    /** @type {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} */
    let e;
    if (field.type === 'BOOL') {
      e = document.createElement('select');
      const options = ['true', 'false'];
      if (options.indexOf(field.value) < 0) { options.unshift(field.value); } // such as a text that was there before
      options.forEach(function (text) { /** @type {HTMLSelectElement} */ (e).add(new Option(text === '' ? 'choose' : text, text)); });
    } else if (field.type === 'N') {
      e = document.createElement('input');
      e.inputMode = 'text'; // a keyboard for numbers may have no minus
    } else {
      e = document.createElement('textarea');
      e.rows = Math.min(Math.max(field.value.split('\n').length, Math.ceil(field.value.length / 90)), 12);
      e.spellcheck = false;
    }
    e.value = field.type === 'NULL' ? '' : field.value; // which comes back with another type
    e.className = 'field-value' + (field.type === 'S' ? '' : ' mono');
    e.disabled = field.type === 'NULL';
    e.setAttribute('aria-label', 'value of ' + name);
    e.addEventListener('input', function () { field.value = e.value; changed(); });
    return e;
  };
  /**
   * @param {Field} field
   * @param {number} at
   */
  const rowOf = function (field, at) {
    const li = document.createElement('li');
    li.className = 'field' + (field.key ? ' of-key' : '');
    const title = function () { return field.shown || field.name || 'the new attribute'; };
    const name = document.createElement('input');
    name.className = 'field-name mono';
    name.value = field.shown || field.name;
    name.readOnly = !!field.key || !!field.shown; // a name that cannot be typed stays as it is
    name.setAttribute('aria-label', 'name of attribute ' + (at + 1));
    name.autocomplete = 'off';
    name.spellcheck = false;
    const type = document.createElement('select');
    type.className = 'field-type';
    types.forEach(function (t) { type.add(new Option(t[1], t[0], false, t[0] === field.type)); });
    let value = control(field, title());
    type.addEventListener('change', function () {
      field.type = type.value;
      const next = control(field, title());
      value.replaceWith(next);
      value = next;
      changed();
    });
    const remove = shared.button('remove', function () {
      fields.splice(fields.indexOf(field), 1);
      const next = li.nextElementSibling || li.previousElementSibling;
      li.remove();
      const button = next && next.querySelector('button');
      if (button && !button.hidden) { button.focus(); } else { by('field-add', HTMLElement).focus(); }
      changed();
    });
    remove.hidden = !!field.key;
    const label = function () {
      type.setAttribute('aria-label', 'type of ' + title());
      remove.setAttribute('aria-label', 'remove ' + title());
      value.setAttribute('aria-label', 'value of ' + title());
    };
    name.addEventListener('input', function () { field.name = name.value; label(); changed(); });
    label();
    li.append(name, type, value, remove);
    return li;
  };
  by('field-add', HTMLElement).addEventListener('click', function () {
    const field = {name: '', type: 'S', value: ''};
    fields.push(field);
    const li = list.appendChild(rowOf(field, fields.length - 1)), name = li.querySelector('input');
    if (name) { name.focus(); }
    changed();
  });

  // Putting and deleting.
  /**
   * @param {string} path
   * @param {string} is
   * @param {string} [branch] the address of a branch to write in
   */
  const write = function (path, is, branch) {
    say('…');
    return send((branch || '') + path, is).then(function (r) {
      say(r.text);
      setTimeout(function () { if (r.at) { location.href = (branch || '') + r.at; } else { location.reload(); } }, 600);
    }, function (err) {
      say(err.message, true);
      if (branch) { shared.discard(branch); }
    });
  };
  const put = function (/** @type {() => void} */ then) {
    if (seen === state() && seen !== '') { then(); return; }
    show().then(function () {
      if (seen === state()) { say('This is what changes: put again to write it.'); } else { say('Nothing was written.', true); }
    });
  };
  const putHere = function () { put(function () { write('put', seen); }); };
  by('put', HTMLElement).addEventListener('click', putHere);
  edit.addEventListener('keydown', function (e) {
    if (e.key !== 'Enter' || !e.ctrlKey && !e.metaKey) { return; }
    e.preventDefault();
    putHere();
  });
  const onBranch = document.getElementById('put-on-branch');
  if (onBranch) {
    onBranch.addEventListener('click', function () {
      put(function () {
        const is = seen;
        shared.branch().then(function (branch) { return write('put', is, branch); }, function (err) { say(err.message, true); });
      });
    });
  }

  // The views, of which the browser keeps the last.
  const name = 'sortkey view';
  const kept = function () { try { return localStorage.getItem(name); } catch { return null; } };
  const radio = function (/** @type {View} */ of) { return by({fields: 'as-fields', plain: 'as-plain', typed: 'typed'}[of], HTMLInputElement); };
  let turning = Promise.resolve();
  const turn = function (/** @type {View} */ to) {
    turning = turning.then(function () {
      if (to === view) { return; }
      const is = state();
      return send('convert', is, to).then(function (r) {
        if (is !== state()) { throw new Error('The item was changed meanwhile: choose the view again.'); }
        if (to === 'fields') {
          fields = JSON.parse(r.text);
          list.textContent = '';
          fields.forEach(function (field, i) { list.appendChild(rowOf(field, i)); });
        } else {
          item.value = r.text;
        }
        view = to;
        form.hidden = view !== 'fields';
        item.hidden = view === 'fields';
        seen = '';
        say('');
        if (written.textContent !== '') { show(); }
      });
    }).catch(function (/** @type {Error} */ err) { say(err.message, true); }).then(function () { radio(view).checked = true; });
    return turning;
  };
  (/** @type {View[]} */ (['fields', 'plain', 'typed'])).forEach(function (of) {
    radio(of).addEventListener('change', function () {
      turn(of).then(function () { try { localStorage.setItem(name, view); } catch { /* not allowed */ } });
    });
  });
  radio(view).checked = true;
  item.value = item.defaultValue; // a browser that reloads keeps the text, but not its form
  const last = kept();
  if (last === 'fields' || last === 'typed') { turn(last); }

  const remove = document.getElementById('delete');
  if (remove) {
    shared.confirm(remove, function () { return 'Delete it'; }, function () { write('delete', JSON.stringify({Is: ''})); });
  }
})();
