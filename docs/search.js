// How the site's search orders pages: guides before experiments and benchmarks. The numbers are Sphinx's own.
var Scorer = {
  score: ([docname, , , , score]) => (/^(docs\/|README|index)/.test(docname) ? score : score - 12),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
