import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  SQLiteDeleteBase,
  SQLiteInsertBase,
  SQLiteSelectBase,
  SQLiteUpdateBase,
} from 'drizzle-orm/sqlite-core'
import { deliveriesAbout } from '../../src/delivery/store/personal-data.ts'
import { personalData as gateData } from '../../src/engines/gate/identities/personal-data-store.ts'
import { personalData as passepartoutData } from '../../src/engines/passepartout/store/personal-data.ts'
import { auditOf, mailsAbout } from '../../src/platform/portable/personal-data.ts'
import { openSnapshot } from '../../src/platform/portable/snapshot.ts'
import { exportOf } from '../platform/portable/fixture.ts'
import { bootTestApp } from '../support/app.ts'

/** Terms of a condition that stand in for the tenant: the value is secret or comes from the row itself. */
const STANDS_IN: [why: string, term: RegExp][] = [
  ['a row that was read before', /^seq (= \?|in \?)$/],
  ['a row that is leased', /^(execution_id|attempt_id|lease_id|lease_owner|revision) = \?$/],
  ['a secret', /^(hash|\w+_hash) = \?$/],
  ['a queue of all tenants', /^state = '(ready|waiting|leased|kept)'$/],
  ['a pause of an endpoint', /^open_until (is not null|<= \?|> \?)$/],
  ['jobs that are due', /^is_active = 1$/],
  [
    'what expires',
    /^((expires|created|accepted|last_seen|requested)_at|at|hour|month|day) <=? \?$/,
  ],
]

const BESIDE = `position > ?, line = ?, id = ?, due_at <= ?, next_run_at <= ?, next_run_at = ?,
  tenant_id is ?, tenant_id is null, host is ?, channel_id is ?, channel_id > ?, endpoint_id is ?, bot_id is ?, endpoint_id = ?, lease_owner not in ?,
  lease_until < ?, lease_owner <> ?, message_id is not null, recipient is not null, ? is null,
  kind = ?, created_at > ?, ifnull last_error, '' not like ?, ended_at is not null, at >= ?,
  access_token is not null, completed_at is not null`.split(/,\s+(?!'')/)

/** Conditions of all other statements on data of tenants, with why they name none. */
const WITHOUT_TENANT: Record<string, string[]> = {
  'used by admins of the installation and by commands': [
    'api_keys',
    'api_keys where api_keys.id = ?',
    'update api_keys where api_keys.id = ?',
    'update api_keys where (api_keys.id = ? and api_keys.replaced_by is null)',
    'audit_log where audit_log.seq > ?',
    'audit_log where (audit_log.seq <= ? and audit_log.seq >= ?)',
    'mails where mails.id = ?',
    'mails where (mails.id = ? and mails.state <> ?)',
    'mails where mails.seq between ? + 1 and ? - 1',
    'mails where (mails.tenant_id is ? and mails.seq between ? + 1 and ? - 1)',
    "mails where (mails.state = 'failed' and mails.seq between ? + 1 and ? - 1)",
    "(select mails where mails.state = 'failed')",
    '(select mails where mails.seq between ? + 1 and ? - 1) found where ((? is null or found.state in (select value from json_each(?))) and (? is null or found.recipient between ? and ?))',
    '(select mails where (mails.tenant_id is ? and mails.seq between ? + 1 and ? - 1)) found where ((? is null or found.state in (select value from json_each(?))) and (? is null or found.recipient between ? and ?))',
    "(select mails where (mails.state = 'failed' and mails.seq between ? + 1 and ? - 1)) found where ((? is null or found.state in (select value from json_each(?))) and (? is null or found.recipient between ? and ?))",
    'console_admins inner join gate_identities on gate_identities.id = console_admins.operator_id inner join gate_addresses on gate_addresses.identity_id = gate_identities.id where (gate_identities.state = ? and gate_addresses.verified_at is not null)',
    'console_admins inner join gate_identities on gate_identities.id = console_admins.operator_id where (console_admins.operator_id < ? and gate_identities.email >= ? and gate_identities.email < ?)',
    "console_admins where (console_admins.operator_id <> ? and (select gate_identities where gate_identities.id = console_admins.operator_id) = 'active')",
  ],
  'finds the tenant of an object, or all tenants of an operator': [
    'gate_identities where gate_identities.id = ?',
    'gate_erasures where gate_erasures.identity_id = ?',
    'console_places where console_places.session_id = ?',
    'console_memberships inner join tenants on tenants.id = console_memberships.tenant_id where (console_memberships.operator_id = ? and tenants.deletion_started_at is null)',
    'api_keys inner join tenants on tenants.id = api_keys.tenant_id where (api_keys.hash = ? and tenants.deletion_started_at is null)',
    'monitors inner join tenants on tenants.id = monitors.tenant_id where (monitors.token_hash = ? and tenants.deletion_started_at is null)',
    'monitors inner join tenants on tenants.id = monitors.tenant_id where (monitors.badge_token = ? and tenants.deletion_started_at is null)',
  ],
  'belongs to a tenant or, with null, to the installation': [
    "(select alerts where (alerts.tenant_id is ? and alerts.state = 'open'))",
    "alerts where ((alerts.tenant_id is ? and alerts.subject = ?) and alerts.kind = ? and alerts.state = 'open')",
    'alerts where ((alerts.tenant_id is ? and alerts.subject = ?) and alerts.kind = ?)',
    'alerts where (alerts.tenant_id is ? and alerts.id = ?)',
    'alerts where (alerts.tenant_id is ? and alerts.state = ? and (alerts.opened_at < ? and alerts.opened_at >= ?))',
    'alerts where (alerts.tenant_id is ? and alerts.state = ? and (alerts.opened_at = ? and alerts.seq < ?))',
    'alerts where (alerts.tenant_id is ? and alerts.subject = ?)',
    "notices where ((notices.tenant_id is ? and notices.channel_id = ? and notices.created_at > ?) and notices.kind = ? and notices.state = 'waiting' and notices.tries = ?)",
    'notices where (notices.tenant_id is ? and notices.channel_id = ? and notices.created_at > ?)',
    'notices where (notices.tenant_id is ? and notices.seq < ?)',
    'notification_channels where (notification_channels.tenant_id is ? and notification_channels.id = ?)',
    'notification_channels where notification_channels.tenant_id is ?',
    'update notification_channels where (notification_channels.tenant_id is ? and notification_channels.id = ?)',
  ],
  'answers 403 instead of 404 for another tenant, by the contract': [
    'gate_sessions where gate_sessions.id = ?',
  ],
  'starts from a browser, which knows an id and no tenant': [
    'gate_flows where gate_flows.id = ?',
    'update gate_flows where gate_flows.id = ?',
  ],
  'starts from an object that was found by its tenant': [
    "(select deliveries where state = 'held' and endpoint_id = ?)",
    "(select (select deliveries where state = 'waiting' and endpoint_id = ?) union all select * from (select deliveries where state = 'held' and endpoint_id = ?)) where attempts > 0 order by (select attempts a where a.delivery_seq = delivery) desc",
    'endpoint_health where endpoint_health.endpoint_id = ?',
    'attempts where attempts.seq in (select attempts where delivery_seq = ?)',
    'executions where executions.id = ?',
    'update executions where executions.id = ?',
    'update mails where (mails.id = ? and mails.state = ?)',
    'passepartout_attempts where (passepartout_attempts.bot_id = ? and passepartout_attempts.opener_id = ?)',
    'passepartout_attempts where (passepartout_attempts.bot_id = ? and passepartout_attempts.opener_id = ? and passepartout_attempts.opened_at > ?)',
    ...['addresses', 'credentials', 'sessions', 'sign_ins', 'social_links'].map(
      (name) => `gate_${name} where gate_${name}.identity_id = ?`,
    ),
  ],
  'works for all tenants: deletes what is old, watches monitors, serves bots, fills the search index, announces alerts':
    [
      'alerts where alerts.due_at <= ?',
      'alerts where alerts.due_at is not null',
      'alerts where alerts.seq in (select alerts where resolved_at < ?)',
      'attempts where attempts.seq in (select deliveries d join attempts a on a.delivery_seq = d.seq where d.message_seq = ?)',
      'deliveries where deliveries.seq in (select deliveries where message_seq = ?)',
      'deliveries where message_seq = (select deliveries where message_seq <= ?)',
      'endpoints where endpoints.deleted_at is not null',
      'gate_erasures where gate_erasures.completed_at is null',
      'gate_identities where gate_identities.seq > ?',
      'gate_search_entries left join gate_identities on gate_identities.seq = gate_search_entries.seq where gate_search_entries.seq > ?',
      'monitors where monitors.due_at <= ?',
      'monitors where monitors.due_at is not null',
      'passepartout_attempts',
      'passepartout_attempts where seq >= ?',
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
  const namesTenant = /\btenant_id = (\?|\w+\.tenant_id)/
  const isLimited = (statement: string) => {
    const terms = termsOf(conditionOf(statement))
    const standsIn = (term: string) => STANDS_IN.some(([, pattern]) => pattern.test(term))
    return terms.some(standsIn) && terms.every((term) => standsIn(term) || BESIDE.includes(term))
  }
  const unlimited = statements.filter(
    (statement) =>
      tables.some((table) => RegExp(`\\b(from|join|update) ${table}\\b`).test(statement)) &&
      !namesTenant.test(statement) &&
      !isLimited(statement),
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
    .replace(/ returning .*$/, '')
    .replaceAll(/ (order by|limit) [^()]*(?=\)|$)/g, '')
    .replace(/\) some$/, ')')

/** The terms of a condition and of those within it, without names of tables and brackets. */
const termsOf = (condition: string) =>
  condition
    .replace(/^.*? where /, '')
    .replaceAll('(select value from json_each(?))', '?')
    .replaceAll(/\([\w., ]+\) > \([^)]*\)/g, 'position > ?')
    .replaceAll(/(\([\w., ]+\)|\S+) in \(select \w+ where /g, '')
    .replaceAll(/\b\w+\.(?=\w)/g, '')
    .replaceAll('(', ' ')
    .replaceAll(')', '')
    .replaceAll(/ +/g, ' ')
    .split(/ and | or /)
    .map((term) => term.trim())

/** The statements that the application prepares at its start, and those of exports, in one spelling. */
async function statementsOfApp(): Promise<{ statements: string[]; tables: string[] }> {
  const seen = new Set<string>()
  const add = (text: string) =>
    seen.add(
      text
        .replaceAll('"', '')
        .replaceAll(/\+?\$\w+|\+\?/g, '?')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
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
  await exportEverything(app)
  const tables = app.db.client
    .query<{ name: string }, []>(
      `select m.name from sqlite_schema m, pragma_table_info(m.name) c
       where m.type = 'table' and c.name = 'tenant_id'`,
    )
    .all()
  const statements = [...seen].filter((text) => /^(select|update|delete|with)\b/i.test(text))
  return { statements, tables: tables.map(({ name }) => name) }
}

/** Exports a tenant and two of its people, with statements that are built for that. */
async function exportEverything(app: Awaited<ReturnType<typeof bootTestApp>>) {
  const { id: tenantId, key } = await app.tenant()
  const person = { schema_id: 'user', traits: { email: 'ada@example.com' } }
  const gate = app.client((await key('gate')).key)
  const { id } = (await gate.post('/v1/gate/identities', person)).body
  const columns = '(id, tenant_id, platform, platform_user_id, first_name, created_at, updated_at)'
  const insert = `INSERT INTO passepartout_people ${columns} VALUES ('p', ?, 'telegram', '1', 'Ada', 0, 0)`
  app.db.client.run(insert, [tenantId])
  exportOf(app, tenantId)
  using snapshot = openSnapshot(app.db)
  expect(gateData(snapshot, tenantId, id)).toBeDefined()
  expect(passepartoutData(snapshot, tenantId, 'p')).toBeDefined()
  deliveriesAbout(snapshot, tenantId, id)
  mailsAbout(snapshot, tenantId, id, 'ada@example.com')
  auditOf(snapshot, tenantId, { id, objects: [`identity:${id}`] })
}
