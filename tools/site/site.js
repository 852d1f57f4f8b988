// Search. The index is a script, not JSON, so that it also loads from a file. It is loaded when somebody searches.
'use strict';
(function () {
  const root = document.body.dataset.root;
  const query = document.getElementById('site-query'), results = document.getElementById('site-results');
  const list = results.querySelector('ul'), count = results.querySelector('.count');
  const limit = 30;
  document.querySelector('search').hidden = false;

  // The list of pages scrolls by itself: begin where the reader is.
  const pages = document.getElementById('site-pages'), current = pages.querySelector('[aria-current]');
  pages.scrollTop = current.offsetTop - pages.clientHeight / 3;

  const split = function (text) {
    return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(function (w) { return w !== ''; });
  };
  // The words of a heading, with the parts of a name like BeginsWith.
  const parts = function (text) {
    return new Set(split(text).concat(split(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))));
  };

  let index = null, loading = false;
  const load = function () {
    if (loading) { return; }
    loading = true;
    const script = document.createElement('script');
    script.src = root + 'search-index.js';
    script.onload = function () {
      const raw = window.sortkeyIndex;
      index = {
        pages: raw.pages.map(function (p) { return {path: p[0], title: p[1], group: p[2], words: parts(p[1])}; }),
        sections: raw.sections.map(function (s) { return {page: s[0], id: s[1], heading: s[2], words: parts(s[2])}; }),
        words: raw.words.split(' '), found: raw.found.split(' ')
      };
      search();
    };
    script.onerror = function () { count.textContent = 'search-index.js cannot be loaded'; results.hidden = false; };
    document.head.append(script);
  };

  // How well words match a term: wholly, by their beginning, or not at all.
  const match = function (words, term) {
    if (words.has(term)) { return 1; }
    for (const word of words) { if (word.startsWith(term)) { return 0.6; } }
    return 0;
  };

  // The value of each section for a term. A heading counts more than a title, a title more than a text, and a rare
  // word more than a frequent one.
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
      values[i] += 12 * match(s.words, term) / Math.sqrt(s.words.size || 1) + 2 * title;
    });
    return values;
  };

  const find = function (terms) {
    const all = terms.map(valuesOf), hits = [];
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
    return hits.sort(function (a, b) { return b.sum - a.sum; });
  };

  const search = function () {
    const terms = split(query.value);
    if (index === null || terms.length === 0) { results.hidden = true; return; }
    const hits = find(terms);
    count.textContent = hits.length === 0 ? 'Nothing has all of these words. Try fewer, or their beginnings.' :
      hits.length > limit ? 'The best ' + limit + ' of ' + hits.length + ' sections' :
        hits.length === 1 ? '1 section' : hits.length + ' sections';
    list.replaceChildren.apply(list, hits.slice(0, limit).map(function (hit) {
      const page = index.pages[hit.section.page];
      const item = document.createElement('li'), link = document.createElement('a');
      const heading = document.createElement('strong'), where = document.createElement('span');
      link.href = root + page.path + (hit.section.id === '' ? '' : '#' + hit.section.id);
      heading.textContent = hit.section.heading;
      where.textContent = page.group + (hit.section.id === '' ? '' : ' › ' + page.title);
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
    if (!e.target.closest('search')) { close(); }
  });
  document.addEventListener('keydown', function (e) {
    const typing = e.target.closest('input, textarea, select');
    if (e.key === '/' && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      query.focus();
      query.select();
    }
  });
  document.querySelector('search').addEventListener('keydown', function (e) {
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
