// The script of the page. Without it, all of the page can be read. It adds a filter and buttons that copy, and opens
// what is folded where a link leads; in a program that serves the page it also asks queries, edits the source, and
// follows the file.
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
  /**
   * @param {ParentNode} where
   * @param {string} selector
   * @param {(e: HTMLElement) => void} f
   */
  const each = function (where, selector, f) {
    Array.prototype.forEach.call(where.querySelectorAll(selector), f);
  };
  /**
   * @template {keyof HTMLElementTagNameMap} K
   * @param {K} name
   * @param {string} [text]
   * @returns {HTMLElementTagNameMap[K]}
   */
  const element = function (name, text) {
    const e = document.createElement(name);
    if (text !== undefined) { e.textContent = text; }
    return e;
  };
  /**
   * Returns a function that runs f once nothing has happened for a time.
   * @param {number} wait
   * @param {() => void} f
   */
  const later = function (wait, f) {
    let timer = 0;
    return function () { clearTimeout(timer); timer = setTimeout(f, wait); };
  };

  /**
   * Adds buttons that copy requests.
   * @param {ParentNode} where
   */
  const copyable = function (where) {
    each(where, 'pre.copied', function (pre) {
      const head = pre.previousElementSibling;
      if (!head || head.querySelector('button')) { return; }
      const button = element('button', 'copy');
      button.type = 'button';
      button.setAttribute('aria-label', 'copy: ' + head.textContent);
      button.addEventListener('click', function () {
        const said = function (/** @type {string} */ text) { button.textContent = text; setTimeout(function () { button.textContent = 'copy'; }, 1500); };
        const select = function () {
          const range = document.createRange();
          range.selectNodeContents(pre);
          const all = getSelection();
          if (!all) { return; }
          all.removeAllRanges();
          all.addRange(range);
          said('selected');
        };
        if (!navigator.clipboard) { select(); return; }
        navigator.clipboard.writeText(pre.textContent || '').then(function () { said('copied'); }, select);
      });
      head.appendChild(button);
    });
  };

  /** @type {string[]} */
  let words = [];
  /**
   * Keeps the entities, patterns and findings that have all the words.
   * @param {ParentNode} where
   */
  const filter = function (where) {
    let shown = 0, all = 0;
    each(where, '[data-filter]', function (e) {
      const text = (e.textContent || '').toLowerCase();
      const keep = words.every(function (w) { return text.indexOf(w) >= 0; });
      e.classList.toggle('filtered', !keep);
      all++;
      if (keep) { shown++; }
    });
    const found = document.getElementById('filtered');
    if (found) { found.textContent = words.length > 0 ? shown + ' of ' + all + ' parts of the page' : ''; }
  };
  /** @param {ParentNode} where */
  const tools = function (where) {
    const contents = where.querySelector('.contents');
    if (!contents) { return; }
    const box = element('div');
    box.className = 'tools';
    const label = element('label', 'filter ');
    const input = element('input');
    input.type = 'search';
    input.id = 'filter';
    input.value = words.join(' ');
    input.addEventListener('input', function () {
      words = input.value.toLowerCase().split(/\s+/).filter(function (w) { return w !== ''; });
      filter(where);
    });
    label.appendChild(input);
    const found = element('span');
    found.id = 'filtered';
    found.className = 'muted small';
    found.setAttribute('role', 'status');
    box.appendChild(label);
    box.appendChild(found);
    contents.after(box);
  };
  /**
   * Opens what is folded around the element that an address with # leads to, and returns the element.
   * @param {string} address
   */
  const reveal = function (address) {
    const e = address.indexOf('#') === 0 && document.getElementById(address.slice(1));
    for (let d = e && e.closest('details'); d; d = d.parentElement && d.parentElement.closest('details')) { d.open = true; }
    return e;
  };
  const folds = function () {
    document.addEventListener('click', function (e) {
      const link = e.target instanceof Element && e.target.closest('a');
      if (link) { reveal(link.getAttribute('href') || ''); } // before the browser goes there
    });
    const go = function () {
      const e = reveal(location.hash);
      if (e) { e.scrollIntoView(); }
    };
    window.addEventListener('hashchange', go);
    go();

    // All is printed.
    /** @type {HTMLElement[]} */
    let folded = [];
    window.addEventListener('beforeprint', function () {
      each(document, 'main details:not([open])', function (d) { folded.push(d); d.toggleAttribute('open', true); });
    });
    window.addEventListener('afterprint', function () {
      folded.forEach(function (d) { d.toggleAttribute('open', false); });
      folded = [];
    });
  };
  /** @param {ParentNode} where */
  const dress = function (where) { tools(where); copyable(where); filter(where); };

  const start = function () {
    const main = document.querySelector('main');
    if (!main) { return; }
    dress(main);
    folds();
    if (document.body.classList.contains('live')) { live(main); } else { questions()(); }
  };

  // What follows is for programs that serve pages.
  /**
   * Asks the program. An answer that is an error has its text.
   * @param {string} path
   * @param {RequestInit} [options]
   */
  const ask = function (path, options) {
    return fetch(path, options).then(function (r) {
      return r.text().then(function (text) {
        if (!r.ok) { throw new Error(text || r.statusText); }
        return text;
      });
    });
  };

  // The query box draws the slice of its query while it is typed. It returns the function that asks.
  const questions = function () {
    const box = document.getElementById('query');
    if (!box) { return function () {}; }
    const answer = by('answer', HTMLElement), request = by('query-request', HTMLTextAreaElement);
    const path = box.getAttribute('data-path') || 'query';
    const field = function (/** @type {string} */ name) { return by('query-' + name, HTMLInputElement); };
    let asked = 0;
    /** @returns {Record<string, string>} */
    const values = function () {
      if (request.value.trim() !== '') { return {request: request.value}; }
      return {
        space: by('query-space', HTMLSelectElement).value, partition: field('partition').value, sort: field('sort').value,
        filter: field('filter').value, limit: field('limit').value, descending: field('descending').checked ? 'true' : ''
      };
    };
    const query = function () {
      const now = values(), mine = ++asked;
      each(box, '.query-form input, .query-form select', function (e) { e.toggleAttribute('disabled', 'request' in now); });
      if (now.partition === '') { answer.textContent = ''; return; }
      ask(path, {method: 'POST', body: new URLSearchParams(now)}).then(function (html) {
        if (mine !== asked) { return; }
        answer.innerHTML = html;
        copyable(answer);
      }, function (err) {
        if (mine === asked) { answer.textContent = err.message; }
      });
    };
    const soon = later(80, query);
    each(box, '.query-form input, .query-form select, .query-form textarea', function (e) { e.addEventListener('input', soon); });
    return query;
  };

  /** @param {HTMLElement} main */
  const live = function (main) {
    const status = by('status', HTMLElement);
    /**
     * @param {string} text
     * @param {boolean} [bad]
     */
    const say = function (text, bad) { status.textContent = text; status.classList.toggle('bad', !!bad); };

    // The page keeps its place: the first part in view stays where it is, open parts stay open.
    const scroller = function () {
      return getComputedStyle(main).overflowY === 'auto' ? main : document.scrollingElement || main;
    };
    const place = function () {
      let id = '', best = -Infinity;
      each(main, '[id]', function (e) {
        const top = e.getBoundingClientRect().top;
        if (top < 120 && e.getClientRects().length > 0 && top >= best) { id = e.id; best = top; }
      });
      return {id: id, top: best};
    };
    const redraw = function () {
      return Promise.all([ask('main'), ask('page.css'), ask('spaces')]).then(function (all) {
        const html = all[0];
        sheet.replaceSync(all[1]); // a model with more entities has more colours
        document.adoptedStyleSheets = [sheet];
        choices(JSON.parse(all[2]));
        const at = place(), focus = document.activeElement && main.contains(document.activeElement) && document.activeElement.id;
        /** @type {Record<string, boolean>} */
        const state = {};
        each(main, 'details', function (d) { state[name(d)] = d.hasAttribute('open'); });
        main.innerHTML = html;
        each(main, 'details', function (d) { if (name(d) in state) { d.toggleAttribute('open', state[name(d)]); } });
        dress(main);
        const now = at.id && document.getElementById(at.id);
        if (now) { scroller().scrollTop += now.getBoundingClientRect().top - at.top; }
        const focused = focus && document.getElementById(focus);
        if (focused) { focused.focus({preventScroll: true}); }
        const title = main.querySelector('h1');
        if (title) { document.title = title.textContent + ': key design'; }
      });
    };
    const sheet = new CSSStyleSheet();
    /**
     * A table or an index that a query can read.
     * @typedef {object} Space
     * @property {number} n
     * @property {string} title
     */
    /**
     * Lists what a query can read; the chosen one stays.
     * @param {Space[]} spaces
     */
    const choices = function (spaces) {
      const select = by('query-space', HTMLSelectElement), chosen = select.selectedOptions[0];
      const before = chosen && chosen.textContent;
      select.textContent = '';
      spaces.forEach(function (s) {
        const option = element('option', s.title);
        option.value = String(s.n);
        option.selected = s.title === before;
        select.appendChild(option);
      });
    };
    /** @param {HTMLElement} d */
    const name = function (d) {
      const near = d.closest('[id]');
      return (near ? near.id : '') + ' ' + d.className;
    };

    const query = questions();
    query(); // what the form has from the beginning

    // The source, with a margin of line numbers and findings.
    const text = by('text', HTMLTextAreaElement), margin = by('margin', HTMLElement);
    const problems = by('problems', HTMLElement), saved = by('saved', HTMLElement);
    let base = '', clean = text.value, sent = '', ever = false; // the page has the text, but not its version
    const lineOf = function (/** @type {number} */ n) {
      const lines = text.value.split('\n');
      let at = 0;
      for (let i = 0; i < n - 1 && i < lines.length; i++) { at += lines[i].length + 1; }
      text.focus();
      text.setSelectionRange(at, at + (lines[n - 1] || '').length);
      text.scrollTop = Math.max((n - 6) * 18, 0);
    };
    /**
     * A finding, as the program sends it.
     * @typedef {object} Finding
     * @property {number} line
     * @property {string} kind
     * @property {string} message
     * @property {string} [advice]
     */
    /** @param {Finding[]} findings */
    const mark = function (findings) {
      /** @type {Record<number, Finding>} */
      const of = {};
      /** @type {Record<string, number>} */
      const rank = {bad: 3, warn: 2, note: 1};
      problems.textContent = '';
      findings.forEach(function (f) {
        if (!of[f.line] || rank[f.kind] > rank[of[f.line].kind]) { of[f.line] = f; }
        const li = element('li');
        li.className = f.kind + '-text';
        const go = element('button', f.line > 0 ? 'line ' + f.line : 'file');
        go.type = 'button';
        go.addEventListener('click', function () { lineOf(f.line); });
        li.appendChild(go);
        li.appendChild(document.createTextNode(f.message + (f.advice ? '. To do: ' + f.advice : '')));
        problems.appendChild(li);
      });
      const lines = text.value.split('\n').length;
      margin.textContent = '';
      for (let i = 1; i <= lines; i++) {
        const li = element('li', of[i] ? '● ' + i : String(i));
        if (of[i]) { li.className = of[i].kind; li.title = of[i].message; }
        margin.appendChild(li);
      }
      margin.scrollTop = text.scrollTop;
    };
    text.addEventListener('scroll', function () { margin.scrollTop = text.scrollTop; });
    const check = function () {
      const now = text.value;
      ask('check', {method: 'POST', body: now}).then(function (answer) {
        if (text.value === now) { mark(JSON.parse(answer)); }
      }, function (err) { saved.textContent = err.message; });
    };
    const checkLater = later(120, check);
    text.addEventListener('input', function () {
      told();
      checkLater();
    });
    const read = function () {
      return ask('source').then(function (answer) {
        const s = JSON.parse(answer);
        if (text.value !== clean && s.text !== text.value) { // changed here
          if (ever && s.text === sent) { // since it was saved
            base = s.version;
            clean = sent;
            return;
          }
          saved.textContent = 'the file has changed; saving is refused until this pane has its text';
          return;
        }
        const top = text.scrollTop, from = text.selectionStart, to = text.selectionEnd;
        if (text.value !== s.text) {
          text.value = s.text;
          text.setSelectionRange(from, to);
          text.scrollTop = top;
        }
        base = s.version;
        clean = s.text;
        mark(s.findings);
      });
    };
    let saving = false, again = false;
    const save = function () {
      if (saving) { again = true; return; }
      saving = true;
      sent = text.value;
      ever = true;
      ask('source?version=' + encodeURIComponent(base), {method: 'POST', body: sent}).then(function (version) {
        base = version;
        clean = sent;
        told();
      }, function (err) { saved.textContent = err.message; }).then(function () {
        saving = false;
        if (again) { again = false; save(); }
      });
    };
    const told = function () {
      saved.textContent = text.value === clean ? 'saved' : 'not saved';
    };
    by('save', HTMLButtonElement).addEventListener('click', save);
    text.addEventListener('keydown', function (e) {
      if ((e.ctrlKey || e.metaKey) && e.key === 's') { e.preventDefault(); save(); }
    });

    // The server says when the file has changed, and whether it could be checked.
    const events = new EventSource('events');
    const follow = function () {
      redraw().then(function () { say('up to date'); query(); return read(); }).catch(function (err) { say(err.message, true); });
    };
    let lost = false;
    events.addEventListener('page', follow);
    events.addEventListener('broken', function () {
      say('the file has errors; the page shows the last version without', true);
      read().catch(function (err) { say(err.message, true); });
    });
    events.addEventListener('working', function () { say('checking…'); });
    events.onerror = function () { lost = true; say('the program has ended, or does not answer', true); };
    events.onopen = function () {
      if (lost) { lost = false; follow(); }
    };
    mark([]); // the lines, until their findings are known
    read().catch(function (err) { say(err.message, true); });
  };

  if (document.readyState === 'loading') { document.addEventListener('DOMContentLoaded', start); } else { start(); }
})();
