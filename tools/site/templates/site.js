// Search. The index is a script, not JSON, so that it also loads from a file. It is loaded when somebody searches.
'use strict';
(function () {
  /**
   * An element of page.html.
   * @type {(selector: string) => any}
   */
  const one = function (selector) { return document.querySelector(selector); };
  const root = document.body.dataset.root;
  const box = one('search'), query = one('#site-query'), results = one('#site-results');
  const list = one('#site-results ul'), count = one('#site-results .count');
  const limit = 30;
  box.hidden = false;

  // The list of pages scrolls by itself: begin where the reader is.
  const pages = one('#site-pages'), current = one('#site-pages [aria-current]');
  pages.scrollTop = current.offsetTop - pages.clientHeight / 3;

  /** @type {(text: string) => string[]} */
  const split = function (text) {
    return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(function (w) { return w !== ''; });
  };
  /**
   * The words of a heading, and the parts of its names, as of BeginsWith.
   * @typedef {{whole: Set<string>, parts: Set<string>}} Words
   * @type {(text: string) => Words}
   */
  const parts = function (text) {
    return {whole: new Set(split(text)), parts: new Set(split(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')))};
  };

  /**
   * The index, once it is loaded. See searchIndex in search.go.
   * @typedef {{path: string, title: string, group: string, words: Words}} Page
   * @typedef {{page: number, id: string, heading: string, words: Words}} Section
   * @typedef {{pages: Page[], sections: Section[], words: string[], found: string[]}} Index
   */
  const index = /** @type {Index} */ ({pages: [], sections: [], words: [], found: []});
  let loading = false, loaded = false;
  const load = function () {
    if (loading) { return; }
    loading = true;
    const script = document.createElement('script');
    script.src = root + 'search-index.js';
    script.onload = function () {
      const raw = /** @type {any} */ (window).sortkeyIndex;
      for (const [path, title, group] of raw.pages) { index.pages.push({path, title, group, words: parts(title)}); }
      for (const [page, id, heading] of raw.sections) { index.sections.push({page, id, heading, words: parts(heading)}); }
      index.words = raw.words.split(' ');
      index.found = raw.found.split(' ');
      loaded = true;
      search();
    };
    script.onerror = function () { count.textContent = 'search-index.js cannot be loaded'; results.hidden = false; };
    document.head.append(script);
  };

  /**
   * How well the words of a heading match a term. A short heading matches better than a long one.
   * @type {(words: Words, term: string) => number}
   */
  const match = function (words, term) {
    const begins = /** @type {(word: string) => boolean} */ function (word) { return word.startsWith(term); };
    const value = words.whole.has(term) ? 1 : words.parts.has(term) ? 0.7 :
      Array.from(words.whole).concat(Array.from(words.parts)).some(begins) ? 0.6 : 0;
    return value / Math.sqrt(words.parts.size || 1);
  };

  /**
   * The value of each section for a term. A heading counts more than a title, a title more than a text, and a rare
   * word more than a frequent one.
   * @type {(term: string) => Float64Array}
   */
  const valuesOf = function (term) {
    const values = new Float64Array(index.sections.length);
    let low = 0, high = index.words.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (index.words[middle] < term) { low = middle + 1; } else { high = middle; }
    }
    for (; low < index.words.length && index.words[low].startsWith(term); low++) {
      const numbers = index.found[low].split(',');
      const value = (index.words[low] === term ? 1 : 0.6) * Math.log(1 + index.sections.length / numbers.length);
      let n = 0;
      numbers.forEach(function (step) {
        n += parseInt(step, 36);
        values[n] = Math.max(values[n], value);
      });
    }
    index.sections.forEach(function (s, i) {
      const title = s.id === '' ? 0 : match(index.pages[s.page].words, term);
      values[i] += 12 * match(s.words, term) + 2 * title;
    });
    return values;
  };

  /**
   * The sections that have all terms, the best first.
   * @type {(terms: string[]) => Section[]}
   */
  const find = function (terms) {
    const all = terms.map(valuesOf);
    const hits = /** @type {{section: Section, sum: number}[]} */ ([]);
    index.sections.forEach(function (s, i) {
      let sum = 0;
      for (const values of all) {
        if (values[i] === 0) { return; }
        sum += values[i];
      }
      if (s.id === '') { sum *= 1.3; }
      if (index.pages[s.page].group === 'The project') { sum *= 0.6; }
      hits.push({section: s, sum: sum});
    });
    return hits.sort(function (a, b) { return b.sum - a.sum; }).map(function (hit) { return hit.section; });
  };

  const search = function () {
    const terms = split(query.value);
    if (!loaded || terms.length === 0) { results.hidden = true; return; }
    const hits = find(terms);
    count.textContent = hits.length === 0 ? 'Nothing has all of these words. Try fewer, or their beginnings.' :
      hits.length > limit ? 'The best ' + limit + ' of ' + hits.length + ' sections' :
        hits.length === 1 ? '1 section' : hits.length + ' sections';
    list.replaceChildren.apply(list, hits.slice(0, limit).map(function (section) {
      const page = index.pages[section.page];
      const item = document.createElement('li'), link = document.createElement('a');
      const heading = document.createElement('strong'), where = document.createElement('span');
      link.href = root + page.path + (section.id === '' ? '' : '#' + section.id);
      heading.textContent = section.heading;
      where.textContent = page.group + (section.id === '' ? '' : ' › ' + page.title);
      link.append(heading, where);
      item.append(link);
      return item;
    }));
    results.hidden = false;
  };
  const close = function () { results.hidden = true; };

  query.addEventListener('focus', function () { load(); search(); });
  query.addEventListener('input', function () { load(); search(); });
  list.addEventListener('click', close); // the section may be on this page
  document.addEventListener('click', function (e) {
    if (!box.contains(e.target)) { close(); }
  });
  document.addEventListener('keydown', function (e) {
    if (e.key === '/' && e.target !== query && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      query.focus();
      query.select();
    }
  });
  box.addEventListener('keydown', /** @type {(e: KeyboardEvent) => void} */ function (e) {
    const links = Array.from(list.querySelectorAll('a'));
    const at = links.indexOf(document.activeElement);
    if (e.key === 'Escape') {
      query.focus();
      close();
    } else if (results.hidden) {
      return;
    } else if (e.key === 'ArrowDown' && at + 1 < links.length) {
      links[at + 1].focus();
    } else if (e.key === 'ArrowUp' && at >= 0) {
      (at === 0 ? query : links[at - 1]).focus();
    } else if (e.key === 'Enter' && at < 0 && links.length > 0) {
      links[0].click();
    } else {
      return;
    }
    e.preventDefault();
  });
})();
