"""Words for the files of software projects."""

__all__ = ["ABOUT", "CHANGES", "COMMANDS", "LICENSES", "PACKAGES", "RESEARCH", "TABLES"]

ABOUT = """a tiny clock for tides|reads the gas meter every hour|turns chess games into pictures
a quiz for bird songs|counts bees at the hive door
prints labels for jam jars|a game about snails in space|sorts photos by the weather
a bot that reminds us to water plants|draws maps from bike rides
a small server for recipe cards|tunes a guitar with a microphone|keeps track of borrowed books
finds the next ferry|turns notes into flash cards"""

RESEARCH = """reverberation|moss growth|tide models|street noise|yeast strains|bridge cables|bird calls
cloud edges|error bars|river ice|snail trails|hearing loss|glass dust|lake mud"""

CHANGES = """dark mode|faster start|export to CSV|a crash on empty files|the new login page
support for Windows|wrong totals in March|a typo in the help
French translation|retry after a lost connection|smaller images|the old API|search in notes|time zones
undo for deletes|a leak in the parser|printing|offline use"""

LICENSES = {
    "MIT": (
        "MIT License",
        "Permission is hereby granted, free of charge, to any person obtaining a copy of this",
        "software, to use it without restriction.",
    ),
    "BSD": (
        "BSD 2-Clause License",
        "Redistribution and use in source and binary forms are permitted",
        "provided that the notice above is kept.",
    ),
    "Apache": (
        "Apache License, Version 2.0",
        "Licensed under the Apache License; you may not use this file",
        "except in compliance with the License.",
    ),
    "ISC": (
        "ISC License",
        "Permission to use, copy, modify, and/or distribute this software",
        "for any purpose is hereby granted.",
    ),
    "GPL": (
        "GNU General Public License, version 3",
        "This program is free software: you can redistribute it",
        "under the terms of the licence above.",
    ),
    "MPL": (
        "Mozilla Public License 2.0",
        "This Source Code Form is subject to the terms",
        "of the licence above.",
    ),
    "CC": (
        "Creative Commons Attribution 4.0",
        "You are free to share and adapt the material",
        "if you give credit.",
    ),
}

PACKAGES = {
    "npm": """express lodash axios react vue zod dayjs chalk pg ws sharp uuid commander jest vite
eslint prettier typescript mocha nodemon svelte koa redis mongodb""".split(),
    "py": """requests flask numpy pandas click rich httpx django pillow pytest ruff mypy sqlalchemy jinja2
pyyaml tqdm celery attrs boto3 scipy""".split(),
    "rs": "serde tokio clap anyhow rand regex chrono reqwest rayon log tracing uuid nom image".split(),
    "go": """github.com/spf13/cobra github.com/gorilla/mux github.com/lib/pq golang.org/x/text
github.com/stretchr/testify github.com/google/uuid go.uber.org/zap""".split(),
    "rb": "rails sinatra puma rspec rubocop sidekiq nokogiri devise pg redis rake".split(),
    "java": "junit guava slf4j-api jackson-core hibernate-core spring-web gson".split(),
}

COMMANDS = """build=make all|npm run build|cargo build --release|go build ./...|tsc -p .|mvn package
test=pytest -q|npm test|cargo test|go test ./...|bundle exec rspec|make check
lint=ruff check .|eslint src|cargo clippy|golangci-lint run|rubocop
start=node server.js|flask run|python -m app|./run.sh|docker compose up|uvicorn app:main
clean=rm -rf build|rm -rf dist|cargo clean|make clean|git clean -n
deploy=./deploy.sh prod|fly deploy|rsync -a site/ web:/srv/|kubectl apply -f k8s
format=ruff format|prettier -w .|gofmt -w .|cargo fmt
docs=mkdocs build|sphinx-build docs out|typedoc|cargo doc"""

TABLES = """members id:INTEGER name:TEXT joined:DATE fee:REAL
readings id:INTEGER sensor:TEXT value:REAL taken_at:TIMESTAMP
books id:INTEGER title:TEXT author:TEXT pages:INTEGER
orders id:INTEGER customer:TEXT total:NUMERIC shipped:BOOLEAN
bookings id:INTEGER room:TEXT guest:TEXT nights:INTEGER|songs id:INTEGER title:TEXT bpm:INTEGER artist:TEXT
pets id:INTEGER name:TEXT species:TEXT weight:REAL|visits id:INTEGER patient:TEXT day:DATE ward:TEXT
parts id:INTEGER label:TEXT stock:INTEGER price:NUMERIC
votes id:INTEGER voter:TEXT choice:TEXT cast_on:DATE"""
