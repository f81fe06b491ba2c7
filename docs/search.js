// How the site's search orders pages: first those with all words of the query in one heading, functions and classes for a single word
// alone; guides before reference, and both before experiments and benchmarks. The numbers below are Sphinx's own.
var Scorer = {
  score: ([docname, , , description, score]) => {
    Scorer.answers ??= Scorer.pagesWithHeading();
    if (!/^(docs\/|README|index)/.test(docname) || (description && Scorer.words.length > 1)) return score - 24;
    return score + (Scorer.answers.has(docname) ? 12 : 0) - (/settings|reference/.test(docname) ? 4 : 0);
  },
  pagesWithHeading: () => {
    const stemmer = new Stemmer();
    const stems = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => stemmer.stemWord(word));
    Scorer.words = stems(new URLSearchParams(window.location.search).get("q"));
    const headings = Object.entries(Search._index.alltitles).filter(([heading]) => {
      const inHeading = stems(heading);
      return Scorer.words.every((word) => inHeading.includes(word));
    });
    return new Set(headings.flatMap(([, places]) => places.map(([file]) => Search._index.docnames[file])));
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
