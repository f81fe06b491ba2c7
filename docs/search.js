// How the site's search orders pages: by the share of the query's words in one heading, most in the title; functions and classes for a
// single word alone; guides before reference, and both before experiments and benchmarks. The numbers below are Sphinx's own.
var Scorer = {
  score: ([docname, , , description, score]) => {
    Scorer.shares ??= Scorer.sharesInHeadings();
    if (!/^(docs\/|README|index)/.test(docname) || (description && Scorer.words.length > 1)) return score - 24;
    return score + Math.round(12 * (Scorer.shares.get(docname) ?? 0)) - (/settings|reference/.test(docname) ? 4 : 0);
  },
  sharesInHeadings: () => {
    const stemmer = new Stemmer();
    const words = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !stopwords.has(word));
    const stems = (text) => words(text).map((word) => stemmer.stemWord(word));
    Scorer.words = stems(new URLSearchParams(window.location.search).get("q"));
    const shares = new Map();
    for (const [heading, places] of Object.entries(Search._index.alltitles)) {
      const inHeading = stems(heading);
      const share = Scorer.words.filter((word) => inHeading.includes(word)).length / Scorer.words.length || 0;
      for (const [file] of places) {
        const [page, isTitle] = [Search._index.docnames[file], Search._index.titles[file] === heading];
        shares.set(page, Math.max(shares.get(page) ?? 0, isTitle ? 1.25 * share : share));
      }
    }
    return shares;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
