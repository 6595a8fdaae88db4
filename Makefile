.DEFAULT_GOAL := help
.PHONY: help up down test fast check doctor bench services

# What `make test` and `make fast` hand to pytest: make test ARGS="-k idempotency"
ARGS ?=

help: ## This list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

up: ## Start everything and follow the logs until Ctrl-C; with DETACH=1 in the background; PORT=8000
	@dev/bootstrap.sh up $(if $(DETACH),--detach) $(if $(PORT),--port=$(PORT))

down: ## Stop everything that `make up` started
	@dev/bootstrap.sh down

test: ## Every test, the real sandbox included; ARGS="-k foo" goes to pytest
	@dev/bootstrap.sh test $(ARGS)

fast: ## The tests that need no Docker
	@dev/bootstrap.sh fast $(ARGS)

check: ## Format, lint, types, import rules, missing migrations
	@dev/bootstrap.sh check

doctor: ## Say what is wrong with this machine's sandbox, and how to mend it
	@dev/bootstrap.sh doctor

bench: ## What a run costs, beside what it would cost without us; ARGS="--rounds 5 --humaneval FOLDER"
	@dev/bootstrap.sh bench $(ARGS)

services: ## Only what the application stands on: Docker engine, PostgreSQL, Redis; source var/env to use them
	@dev/bootstrap.sh services
