import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import { TYPE } from '../relay.ts'
import type { ConsoleInstallation } from './installation.ts'

/** The scope in which a page is opened. */
export type Place = 'tenant' | 'installation'

/** A page that lists rows. */
export interface ListView {
  name: string
  path: string
  place?: Place
  /** Leaves few or none of its rows. */
  filter: string
  /** The bare query of the rows on its first page. */
  sql: string
}

/** A page about one row, which the bare query finds by its id. */
export interface DetailView {
  name: string
  path: string
  place?: Place
  table: string
  id: string
  /** What the row is found by, unless by `id`. */
  by?: string
}

export function listViews({ tenants: [mine], first }: ConsoleInstallation): ListView[] {
  const of = (table: string, { where = '', order = 'seq', limit = 50 } = {}) =>
    `SELECT * FROM ${table} WHERE tenant_id = '${mine}' ${where} ORDER BY ${order} DESC LIMIT ${limit}`
  const live = "AND environment = 'live'"
  const stream = { where: "AND stream = 'relay.live'" }
  return [
    {
      name: 'identities',
      path: '/console/identities',
      filter: 'q=person-00012',
      sql: of('gate_identities'),
    },
    { name: 'jobs', path: '/console/jobs', filter: 'q=report+17&sort=name', sql: of('cron_jobs') },
    {
      name: 'runs of a job',
      path: `/console/jobs/${first.job}/runs`,
      filter: 'status=failed&sort=started',
      sql: of('executions', { where: `AND job_id = '${first.job}'` }),
    },
    {
      name: 'delayed jobs',
      path: '/console/delayed',
      filter: 'q=nothing',
      sql: of('delayed_jobs', { order: 'run_at' }),
    },
    {
      name: 'logins',
      path: '/console/logins',
      filter: 'state=mismatched',
      sql: of('passepartout_attempts', { where: `${live} AND state = 'approved'` }),
    },
    {
      name: 'users of logins',
      path: '/console/logins/users',
      filter: 'q=person12',
      sql: of('passepartout_people', { where: "AND platform = 'telegram'", order: 'id' }),
    },
    {
      name: 'endpoints',
      path: '/console/endpoints',
      filter: 'q=hooks-12',
      sql: of('endpoints', { ...stream, limit: 25 }),
    },
    {
      name: 'messages',
      path: '/console/messages',
      filter: 'event_type=order.kind00012',
      sql: of('messages', stream),
    },
    {
      name: 'deliveries',
      path: '/console/deliveries',
      filter: 'status=failed',
      sql: of('deliveries', stream),
    },
    {
      name: 'event types',
      path: '/console/event-types',
      filter: `q=${TYPE}`,
      sql: of('relay_event_types', { where: live, order: 'name' }),
    },
    { name: 'audit', path: '/console/audit', filter: 'action=key.revoked', sql: of('audit_log') },
    {
      name: 'keys',
      path: '/console/keys',
      filter: 'engine=relay',
      sql: of('api_keys', { order: 'created_at' }),
    },
    {
      name: 'tenants',
      path: '/console/installation/tenants',
      filter: 'q=tenant+number+12',
      sql: 'SELECT * FROM tenants ORDER BY id DESC LIMIT 50',
      place: 'installation',
    },
    {
      name: 'mail outbox',
      path: '/console/installation/mail',
      filter: 'state=failed',
      sql: 'SELECT * FROM mails ORDER BY seq DESC LIMIT 50',
      place: 'installation',
    },
    {
      name: 'operators',
      path: '/console/installation/operators',
      filter: 'q=operator-00012',
      sql: `SELECT * FROM gate_identities WHERE tenant_id = '${SYSTEM_TENANT_ID}' ORDER BY seq DESC LIMIT 50`,
      place: 'installation',
    },
  ]
}

/** Each about the middle one of those stored, or the one with the most behind it. */
export function detailViews({ engine, tenants: [mine], first }: ConsoleInstallation): DetailView[] {
  /** Of the second half, where the first row of all has no say. */
  const middle = (table: string, tenantId = mine, column = 'id'): string => {
    const among = engine.db.client.query<{ id: string }, [string]>(
      `SELECT ${column} AS id FROM ${table} WHERE tenant_id = ?1 ORDER BY rowid
       LIMIT 1 OFFSET (SELECT count(*) / 2 FROM ${table} WHERE tenant_id = ?1)`,
    )
    return among.get(tenantId)?.id ?? ''
  }
  const message = middle('messages')
  const ownPages = [
    ['overview', '/console'],
    ['search for an id', `/console/find?q=${message}`],
    ['search for an address', '/console/find?q=person-0000123@example.com'],
    ['usage', '/console/usage'],
    ['policies', '/console/policies'],
    ['webhooks', '/console/webhooks'],
    ['team', '/console/team'],
  ] as const
  const place = 'installation' as const
  const type = middle('relay_event_types', mine, 'name')
  const operator = middle('gate_identities', SYSTEM_TENANT_ID)
  const detail = (name: string, path: string, table: string, id = middle(table)): DetailView => ({
    name,
    path: `/console/${path}/${id}`,
    table,
    id,
  })
  return [
    detail('identity', 'identities', 'gate_identities'),
    detail('job', 'jobs', 'cron_jobs', first.job),
    {
      name: 'execution',
      path: `/console/jobs/${first.job}?execution=${first.execution}`,
      table: 'executions',
      id: first.execution,
    },
    detail('delayed job', 'delayed', 'delayed_jobs'),
    detail('login', 'logins', 'passepartout_attempts'),
    detail('user of logins', 'logins/users', 'passepartout_people'),
    detail('endpoint', 'endpoints', 'endpoints', first.endpoint),
    detail('message', 'messages', 'messages', message),
    detail('delivery', 'deliveries', 'deliveries'),
    { ...detail('event type', 'event-types', 'relay_event_types', type), by: 'name' },
    detail('key', 'keys', 'api_keys'),
    { ...detail('tenant', 'installation/tenants', 'tenants', mine), place },
    { ...detail('mail', 'installation/mail', 'mails', first.mail), place },
    { ...detail('operator', 'installation/operators', 'gate_identities', operator), place },
    ...ownPages.map(([name, path]) => ({ name, path, table: 'tenants', id: mine })),
    { name: 'health', path: '/console/installation/health', table: 'tenants', id: mine, place },
  ]
}
