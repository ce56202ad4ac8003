import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  SQLiteDeleteBase,
  SQLiteInsertBase,
  SQLiteSelectBase,
  SQLiteUpdateBase,
} from 'drizzle-orm/sqlite-core'
import { bootTestApp } from '../support/app.ts'

/** Conditions that stand in for the tenant, because their value is secret or comes from the row itself. */
const STANDS_IN: [why: string, condition: RegExp][] = [
  ['a row that was read before', /\bseq (= [?$]|in \(select value)/],
  ['a row that is leased', /\b(execution_id|attempt_id|lease_id|lease_owner|revision) = [?$]/],
  ['a secret', /\b(hash|\w+_hash|generation) = [?$]/],
  ['a queue of all tenants', /\bstate = '?(ready|waiting|leased|kept|\?)'?|\bopen_until\b/],
  ['jobs that are due', /is_active = 1/],
  [
    'what expires',
    /\b(expires_at|created_at|accepted_at|last_seen_at|requested_at|at|hour|month|day) (<|<=|is not null)/,
  ],
]

/** Conditions of all other statements on data of tenants, with why they name none. */
const WITHOUT_TENANT: Record<string, string[]> = {
  'used by admins of the installation and by commands': [
    'api_keys',
    'api_keys where api_keys.id = ?',
    'update api_keys where api_keys.id = ?',
    'update api_keys where (api_keys.id = ? and api_keys.replaced_by is null)',
    'audit_log where audit_log.seq > ?',
    'audit_log where (audit_log.seq <= ? and audit_log.seq >= ?)',
    'audit_log where (audit_log.seq >= ? and audit_log.seq <= ?)',
    'mails where mails.id = ?',
    'mails where (mails.id = ? and mails.state <> ?)',
    'mails where mails.seq < ?',
    'mails where (mails.tenant_id is ? and mails.seq < ?)',
    '(select mails where mails.seq < ?) newest where ((? is null or newest.state in (select value from json_each(?))) and (? is null or newest.recipient between ? and ?))',
    '(select mails where (mails.tenant_id is ? and mails.seq < ?)) newest where ((? is null or newest.state in (select value from json_each(?))) and (? is null or newest.recipient between ? and ?))',
    'console_admins inner join gate_identities on gate_identities.id = console_admins.operator_id where (console_admins.operator_id < ? and gate_identities.email >= ? and gate_identities.email < ?)',
    "console_admins where (console_admins.operator_id <> ? and (select gate_identities where gate_identities.id = console_admins.operator_id) = 'active')",
  ],
  'finds the tenant of an object, or all tenants of an operator': [
    'gate_identities where gate_identities.id = ?',
    'gate_erasures where gate_erasures.identity_id = ?',
    'console_places where console_places.session_id = ?',
    'console_memberships inner join tenants on tenants.id = console_memberships.tenant_id where console_memberships.operator_id = ?',
  ],
  'answers 403 instead of 404 for another tenant, by the contract': [
    'gate_sessions where gate_sessions.id = ?',
  ],
  'starts from a browser, which knows an id and no tenant': [
    'gate_flows where gate_flows.id = ?',
    'update gate_flows where gate_flows.id = ?',
  ],
  'starts from an object that was found by its tenant': [
    "(select deliveries where state = 'held' and endpoint_id = +$endpointId)",
    'endpoint_health where endpoint_health.endpoint_id = ?',
    'attempts where attempts.seq in (select attempts where delivery_seq = ?)',
    'executions where executions.id = ?',
    'update executions where executions.id = ?',
    'passepartout_attempts where (passepartout_attempts.bot_id = ? and passepartout_attempts.opener_id = ?)',
    'passepartout_attempts where (passepartout_attempts.bot_id = ? and passepartout_attempts.opener_id = ? and passepartout_attempts.opened_at > ?)',
  ],
  'works for all tenants: deletes what is old, serves bots': [
    'attempts where attempts.seq in (select deliveries d join attempts a on a.delivery_seq = d.seq where d.message_seq = ?)',
    'deliveries where deliveries.seq in (select deliveries where message_seq = ?)',
    'deliveries where message_seq = (select deliveries where message_seq <= +$messageSeq)',
    'endpoints where endpoints.deleted_at is not null',
    'gate_erasures where gate_erasures.completed_at is null',
    'passepartout_attempts',
    'passepartout_attempts where seq >= +$seq',
    'passepartout_bots',
    'passepartout_bots where is_enabled = 1 and token is not null',
    'passepartout_bots where passepartout_bots.id = ?',
    'passepartout_bots where (passepartout_bots.platform = ? and passepartout_bots.platform_bot_id = ? and passepartout_bots.token is not null)',
    'update passepartout_bots where (passepartout_bots.id = ? and (passepartout_bots.lease_owner is null or passepartout_bots.lease_owner not in (select value from json_each(?))))',
  ],
}

test('Every statement on data of tenants names the tenant, except those listed here', async () => {
  const { statements, tables } = await statementsOfApp()
  expect(statements.length).toBeGreaterThan(300)
  const namesTenant = /\btenant_id = (\+?[?$]|\w+\.tenant_id)/
  const unlimited = statements.filter(
    (statement) =>
      tables.some((table) => RegExp(`\\b(from|join|update) ${table}\\b`).test(statement)) &&
      !namesTenant.test(statement) &&
      !STANDS_IN.some(([, condition]) => condition.test(conditionOf(statement))),
  )
  const conditions = new Set(unlimited.map(conditionOf))
  expect([...conditions].toSorted()).toEqual(Object.values(WITHOUT_TENANT).flat().toSorted())
})

/** A statement without the columns that it selects or sets, its order and its limit. */
const conditionOf = (statement: string) =>
  statement
    .replace(/^(select .*? from|delete from|update (?=\w+ set)) /, '')
    .replace(/ set .*? where/, ' where')
    .replaceAll(/\( ?select (?!value).*? from /g, '(select ')
    .replaceAll(/ (order by|limit|returning) [^()]*(?=\)|$)/g, '')

/** The statements that the stores of the application prepare at its start, in one spelling. */
async function statementsOfApp(): Promise<{ statements: string[]; tables: string[] }> {
  const seen = new Set<string>()
  const add = (text: string) => seen.add(text.replaceAll('"', '').replaceAll(/\s+/g, ' ').trim())
  using undo = new DisposableStack()
  for (const name of ['prepare', 'query'] as const) {
    const original = Database.prototype[name]
    Database.prototype[name] = function (this: Database, text: string, ...rest: []) {
      add(text)
      return original.call(this, text, ...rest)
    } as typeof original
    undo.defer(() => Object.assign(Database.prototype, { [name]: original }))
  }
  for (const { prototype } of [
    SQLiteSelectBase,
    SQLiteInsertBase,
    SQLiteUpdateBase,
    SQLiteDeleteBase,
  ]) {
    const { prepare, toSQL } = prototype
    prototype.toSQL = function (this: unknown) {
      const query = toSQL.call(this)
      add(query.sql)
      return query
    }
    // Stores compile a statement with its first use.
    prototype.prepare = function (this: { toSQL(): unknown }) {
      this.toSQL()
      return prepare.call(this)
    }
    undo.defer(() => Object.assign(prototype, { prepare, toSQL }))
  }
  await using app = await bootTestApp()
  const tables = app.db.client
    .query<{ name: string }, []>(
      `select m.name from sqlite_schema m, pragma_table_info(m.name) c
       where m.type = 'table' and c.name = 'tenant_id'`,
    )
    .all()
  const statements = [...seen].filter((text) => /^(select|update|delete|with)\b/i.test(text))
  return { statements, tables: tables.map(({ name }) => name) }
}
