"""May this model replace that one: of each rule, is it shown to hold, shown not to hold, or undecided.

Start with `checking.check`; `decision.decide` is the statistics, `rules.Rules` what can be required.
"""
