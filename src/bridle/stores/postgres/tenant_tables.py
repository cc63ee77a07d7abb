"""The tables for tenants.

```
tenants       name, settings
tokens        id, tenant, user, scopes, hash of the secret; the secret itself is not stored
tenant_use    tenant, period: what its runs have used or have reserved, by day and by month
reservations  session, run: what is reserved for one run, and whether it is settled
```

`tenant_use` changes in the same transaction as `reservations`, so their sums always match.
"""

TENANT_TABLES = (
    """
CREATE TABLE bridle.tenants (
    name text COLLATE "C" PRIMARY KEY,
    settings bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
)
""",
    """
CREATE TABLE bridle.tokens (
    id text COLLATE "C" PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    username text NOT NULL,
    scopes text[] NOT NULL,
    hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
)
""",
    "CREATE INDEX tokens_of ON bridle.tokens (tenant, created_at)",
    """
CREATE TABLE bridle.tenant_use (
    tenant text COLLATE "C" NOT NULL,
    period text COLLATE "C" NOT NULL,
    tokens bigint NOT NULL DEFAULT 0,
    nano bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, period)
) WITH (fillfactor = 50)
""",
    """
CREATE TABLE bridle.reservations (
    session text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    month text COLLATE "C" NOT NULL,
    tokens bigint NOT NULL,
    nano bigint NOT NULL,
    limits bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    PRIMARY KEY (session, run)
) WITH (fillfactor = 70)
""",
    "CREATE INDEX reservations_open ON bridle.reservations (made_at) WHERE settled_at IS NULL",
    "CREATE INDEX reservations_settled ON bridle.reservations (settled_at) WHERE settled_at IS NOT NULL",
)
