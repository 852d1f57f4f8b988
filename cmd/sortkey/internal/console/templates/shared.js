// What the scripts of several pages need. A page loads it before them.
'use strict';
/** @typedef {{key: string, why: string}} Refusal why the server has left an item as it is */
const shared = {
  /**
   * Returns the element with an id, which the page has.
   * @template {Element} E
   * @param {string} id
   * @param {new () => E} type
   * @returns {E}
   */
  by: function (id, type) {
    const e = document.getElementById(id);
    if (!(e instanceof type)) { throw new Error('the page has no ' + id); }
    return e;
  },
  /**
   * Returns a new element.
   * @template {keyof HTMLElementTagNameMap} K
   * @param {K} name
   * @param {string} text
   * @returns {HTMLElementTagNameMap[K]}
   */
  element: function (name, text) {
    const e = document.createElement(name);
    e.textContent = text;
    return e;
  },
  /**
   * Returns a new button.
   * @param {string} text
   * @param {() => void} act
   */
  button: function (text, act) {
    const e = shared.element('button', text);
    e.type = 'button';
    e.addEventListener('click', act);
    return e;
  },
  /**
   * Has a button ask before it does something dangerous: a first click shows what it is about to do, and a second one does it.
   * @param {HTMLElement} button
   * @param {() => string} sure what it shows, or '' to act at once
   * @param {() => void} act
   */
  confirm: function (button, sure, act) {
    const text = button.textContent;
    button.addEventListener('blur', function () { button.textContent = text; });
    button.addEventListener('click', function (e) {
      if (e.detail > 1) { return; } // the rest of a double click confirms nothing
      const words = sure();
      if (words !== '' && button.textContent !== words) { button.textContent = words; return; }
      act();
    });
  },
  /**
   * Sends something to the server, and returns what it answers. An answer that refuses it is an error.
   * @param {string} path
   * @param {string | URLSearchParams} body
   */
  post: async function (path, body) {
    const r = await fetch(path, {method: 'POST', body: body}), text = await r.text();
    if (!r.ok) { throw new Error(text); }
    return {text: text, at: r.headers.get('Content-Location')};
  },
  /** Begins a branch, and returns its address. */
  branch: async function () { return (await shared.post('branches', new URLSearchParams())).text; },
  /**
   * Discards a branch in which nothing was written.
   * @param {string} branch
   */
  discard: function (branch) { fetch(branch.replace('branch/', 'branches/') + 'discard', {method: 'POST'}); },
  /**
   * Says something, which may be bad.
   * @param {HTMLElement} said
   * @param {string} text
   * @param {boolean} [bad]
   */
  say: function (said, text, bad) { said.textContent = text; said.classList.toggle('bad', !!bad); },
  /**
   * Says what was done, and lists what was refused.
   * @param {HTMLElement} said
   * @param {string} done
   * @param {Refusal[]} refused
   * @param {string} problem why nothing was done, or ''
   */
  result: function (said, done, refused, problem) {
    const many = refused.length > 0, p = shared.element('p', problem || done + (many ? '; ' + refused.length + ' refused:' : ''));
    p.classList.toggle('bad-text', many || problem !== '');
    said.replaceChildren(p);
    if (!many) { return; }
    const list = said.appendChild(document.createElement('ul'));
    refused.forEach(function (r) { list.appendChild(shared.element('li', r.key + ': ' + r.why)); });
  }
};
