# SPDX-License-Identifier: MIT
# Documents, pages and plots that are computed.

.PHONY: claims claims-doc game-graphs schema versions versions-doc matrix matrix-replay demo \
  site plots

claims: all ## every claim of the documents, by playing its races
	@$(B)/redrace claims $(ARGS)

claims-doc: all ## the same as docs/claims.md
	@$(B)/redrace claims --docs docs $(ARGS)

game-graphs: all ## harness/report/*.graph, of the checks that levels of the game are made of (redis-py)
	@sed -n "s/^checked //p; s/^command redrace check //p" harness/report/game.levels | while read -r name && read -r check; do \
	  eval "$(B)/redrace check --graph harness/report/$$name.json $$check" </dev/null >/dev/null; \
	  mv harness/report/$$name.json harness/report/$$name.graph; done

schema: all ## docs/redrace.schema.json, of the options of redrace check
	@$(B)/redrace help --schema > docs/redrace.schema.json

versions: all ## what differs among the servers of make servers
	@REDRACE=$(B)/redrace tests/bench/versions $(ARGS)

versions-doc: all ## the same as docs/versions.md
	@REDRACE=$(B)/redrace tests/bench/versions --all --docs docs $(ARGS)

matrix: all ## every strategy under every hazard: docs/matrix.md, its transcripts, the README
	@begun=$$(mktemp); \
	  $(B)/redrace matrix --docs docs -o results/matrix.html -o results/matrix.json $(ARGS); code=$$?; \
	  if [ docs/matrix.md -nt $$begun ]; then for file in README.md README.zh.md; do \
	    sh docs/excerpt $$file > $$file.new && mv $$file.new $$file; done; fi; \
	  rm -f $$begun; exit $$code

matrix-replay: all ## play the transcripts of docs/matrix: do they still show what they did?
	@$(B)/redrace matrix --replay docs/matrix $(ARGS)

demo: all ## a tour of ten minutes, with pauses (ARGS=--auto: without)
	@$(B)/redrace demo $(ARGS)

site: all ## everything as linked pages: results/site/index.html; some minutes (ARGS="results/latest")
	@$(B)/redrace site -o results/site $(ARGS)

plots: ## draw the newest results again
	@sh plots/draw results/latest
