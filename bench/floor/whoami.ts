/**
 * Looks a session up by the hash of its token, with the person and their address, in a file that
 * the program has made, and answers with all of it: no schema, and whether the session has ended
 * is not asked. `base` is where the program says that its schemas are.
 */
import { hash } from 'node:crypto'
import { openDatabase } from '../../src/db/open.ts'

interface Row {
  session_id: string
  assurance_level: string
  methods: string
  authenticated_at: number
  issued_at: number
  expires_at: number
  ip_address: string | null
  user_agent: string | null
  id: string
  tenant_id: string
  schema_id: string
  state: string
  state_changed_at: number
  traits: string
  metadata_public: string
  created_at: number
  updated_at: number
  address_id: string
  address: string
  address_status: string
  verified_at: number | null
  address_created_at: number
  address_updated_at: number
}

const [dataDir = '', base = ''] = process.argv.slice(2)
const { client } = openDatabase({ dataDir, synchronous: 'full' })
const find = client.prepare<Row, [string]>(
  `SELECT s.id AS session_id, s.assurance_level, s.methods, s.authenticated_at, s.issued_at,
     s.expires_at, s.ip_address, s.user_agent, i.id, i.tenant_id, i.schema_id, i.state,
     i.state_changed_at, i.traits, i.metadata_public, i.created_at, i.updated_at,
     a.id AS address_id, a.value AS address, a.status AS address_status, a.verified_at,
     a.created_at AS address_created_at, a.updated_at AS address_updated_at
   FROM gate_sessions s
   JOIN gate_identities i ON i.id = s.identity_id
   JOIN gate_addresses a ON a.identity_id = s.identity_id
   WHERE s.token_hash = ?`,
)

const iso = (ms: number) => new Date(ms).toISOString()

function describe(token: string) {
  const row = find.get(hash('sha256', token, 'hex')) as Row
  const address = {
    id: row.address_id,
    value: row.address,
    via: 'email',
    created_at: iso(row.address_created_at),
    updated_at: iso(row.address_updated_at),
  }
  return {
    id: row.session_id,
    active: true,
    expires_at: iso(row.expires_at),
    authenticated_at: iso(row.authenticated_at),
    authenticator_assurance_level: row.assurance_level,
    authentication_methods: JSON.parse(row.methods),
    issued_at: iso(row.issued_at),
    devices: [
      {
        id: row.session_id,
        ip_address: row.ip_address,
        user_agent: row.user_agent,
        location: null,
      },
    ],
    identity: {
      id: row.id,
      schema_id: row.schema_id,
      schema_url: `${base}/public/gate/schemas/${row.schema_id}`,
      state: row.state,
      state_changed_at: iso(row.state_changed_at),
      traits: { ...JSON.parse(row.traits), tenant_id: row.tenant_id },
      verifiable_addresses: [
        {
          ...address,
          verified: row.verified_at !== null,
          status: row.address_status,
          verified_at: row.verified_at === null ? null : iso(row.verified_at),
        },
      ],
      recovery_addresses: [address],
      metadata_public: JSON.parse(row.metadata_public),
      created_at: iso(row.created_at),
      updated_at: iso(row.updated_at),
    },
  }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => Response.json(describe(request.headers.get('x-session-token') ?? '')),
})
console.log(JSON.stringify({ url: server.url.origin }))
