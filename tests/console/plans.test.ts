import { Database, type Statement } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { UNKNOWN_ID, useConsole } from './fixture.ts'
import { addOneOfEach, environmentOf, pagesIn, pathOf } from './one-of-each.ts'

const FILTERED = `identities?q=ada identities?state=inactive identities?state=active&q=ada
  jobs?q=nightly jobs?state=failing jobs?sort=name jobs?sort=-last_run jobs?sort=next_run
  jobs/:id/runs?status=success&within=24h jobs/:id/runs?sort=started
  delayed?q=reminder delayed?status=failed delayed?within=24h delayed?sort=-created
  logins?state=denied logins?sort=started logins/users?q=ada logins/users?sort=created
  logins/users?sort=-signed_in&within=7d endpoints?q=hooks endpoints?state=failing
  endpoints?sort=delivered messages?event_type=order.paid deliveries?status=failed deliveries?endpoint=${UNKNOWN_ID}
  deliveries?status=failed&endpoint=${UNKNOWN_ID} deliveries?within=24h&sort=created
  event-types?q=order event-types?sort=-last_seen keys?engine=relay
  keys?sort=name keys?sort=-used keys?sort=expires&state=expired keys?sort=created
  audit?action=key audit?sort=time audit/export?format=csv audit?since=2026-01-01T00:00:00Z
  policies/decisions?result=denied policies/decisions?subject=billing&sort=time
  identities/:id/sign-ins?result=failed&sort=time&within=7d
  identities/:id/activity?within=7d
  find?q=${UNKNOWN_ID} find?q=ada@example.com find?q=svc_live usage?month=2026-02
  installation/tenants?q=acme installation/tenants?status=suspended
  installation/tenants?sort=-name installation/tenants?sort=created
  installation/mail?state=failed installation/mail?sort=created&within=7d
  installation/mail?tenant=installation installation/mail?tenant=installation&sort=created
  installation/operators?q=ada installation/operators?show=admins
  installation/operators?sort=signed_in`
  .split(/\s+/)
  .map((path) => `/console/${path}`)

/** Indexes and tables of which few rows are read, whatever is stored. */
const FEW: Readonly<Record<string, string>> = {
  attempts_by_delivery: 'of one delivery',
  audit_log_by_time: 'of one period, of the index alone',
  backups_by_time: 'the rows of ninety days',
  console_invitations_by_email: 'to one team',
  console_memberships_by_tenant: 'of one team',
  deliveries_by_message: 'to the endpoints of one tenant',
  endpoints_by_stream: 'a thousand at most',
  instances: 'the running processes',
  passepartout_bots_by_tenant: 'one for each environment',
  gate_social_links_by_identity: 'of one user',
  sqlite_autoindex_branding_logos_1: 'one for each theme',
  sqlite_autoindex_clockwork_hours_1: 'of one tenant and some hours',
  sqlite_autoindex_console_memberships_1: 'of one operator',
  sqlite_autoindex_endpoint_hours_1: 'of one endpoint and some hours',
  sqlite_autoindex_gate_credentials_1: 'of one user',
  sqlite_autoindex_gate_mail_texts_1: 'one for each email and language',
  sqlite_autoindex_skipped_slots_1: 'of one job, a row a day',
  sqlite_autoindex_usage_days_1: 'of one tenant and month',
  sqlite_autoindex_usage_months_1: 'of one tenant',
}

/** The download of the configuration as code, which is all of it; jobs and keys have limits per tenant. */
const WHOLE = '/console/settings/manifest/download'

/** The statements that run on databases opened from now on. */
const ran = new Set<string>()
const { prepare } = Database.prototype
Database.prototype.prepare = function (this: Database, sql: string, ...rest: []) {
  const statement: Statement = prepare.call(this, sql, ...rest)
  for (const name of ['all', 'get', 'run', 'values'] as const) {
    const run = statement[name].bind(statement)
    const recorded = (...values: Parameters<typeof run>) => {
      ran.add(sql)
      return run(...values)
    }
    Object.assign(statement, { [name]: recorded })
  }
  return statement as never
}
afterAll(() => {
  Database.prototype.prepare = prepare
})

const app = await useConsole()
const acme = await app.newTenant()
const parameters = await addOneOfEach(app, acme)
const inTenant = await app.signIn({ isAdmin: true, roles: { [acme.id]: 'owner' } })
const inInstallation = await app.sessionOf(inTenant)
await inInstallation.actIn(null)

const { client } = app.db
const namesIn = (sql: string) =>
  (client.query(sql).all() as { name: string }[]).map(({ name }) => name)
const tables = new Set(namesIn("SELECT name FROM sqlite_schema WHERE type = 'table'"))
const uniqueIndexes = namesIn(
  `SELECT i.name FROM sqlite_schema t, pragma_index_list(t.name) i WHERE i."unique" = 1`,
)
const widthOf = (index: string) => namesIn(`SELECT name FROM pragma_index_info('${index}')`).length
const widths = new Map(uniqueIndexes.map((index) => [index, widthOf(index)]))

const STEP =
  /^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?(?:INDEX (\w+)|(INTEGER PRIMARY KEY)))?(?: \((.*)\))?/

/** How SQLite reads a table: all of it, a range without a common value, one row at most, or some. */
function stepOf(text: string) {
  const [, how, table = '', index = '', rowId, bounds = ''] = STEP.exec(text) ?? []
  const equal = bounds.match(/=\?/g)?.length ?? 0
  // The least or the greatest of all rows.
  const isEnd = text === `SEARCH ${table}`
  const isOne = isEnd || (equal > 0 && equal === (rowId ? 1 : widths.get(index)))
  const isFew = Object.hasOwn(FEW, index || table)
  return {
    text,
    table,
    index,
    isFew,
    isScan: how === 'SCAN',
    isOne,
    isRange: equal === 0 && !isEnd,
  }
}

type Explained = ReturnType<typeof explain>

function explain(statement: string) {
  const explained = client.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${statement}`)
  const plan = explained.all().map(({ detail }) => detail)
  explained.finalize()
  const isPartial = plan.some((step) => step.startsWith('CO-ROUTINE'))
  return {
    statement,
    steps: plan.map(stepOf).filter(({ table }) => tables.has(table)),
    isOfTenant: /tenant_id"? = /.test(statement),
    isLimited: /\blimit\b/i.test(statement),
    /** Sorts what it has found, before any limit. */
    isSorted: !isPartial && plan.some((step) => /B-TREE FOR (?!LAST)/.test(step)),
  }
}

const explained = new Map<string, Explained & { route: string }>()

test('Every page of the console opens with what it shows', async () => {
  const pages = (await pagesIn(app)).filter((route) => route !== WHOLE)
  const failed: string[] = []
  for (const route of [...pages, ...FILTERED]) {
    const session = route.startsWith('/console/installation') ? inInstallation : inTenant
    const format = route.endsWith('/export') ? '?format=csv' : ''
    const path = pathOf(route, parameters) + format
    ran.clear()
    const { status } = await session.in(environmentOf(route)).open(path)
    if (status >= 400 && !/\/(link|invitation)\//.test(path)) failed.push(route)
    for (const sql of [...ran])
      if (!explained.has(sql)) explained.set(sql, { ...explain(sql), route })
  }
  expect(failed).toEqual([])
  expect([pages.length > 50, explained.size > 100]).toEqual([true, true])
  const ofMessages = (rest: string) => explain(`select * from messages ${rest}`)
  expect(ofMessages('').steps).toMatchObject([{ isScan: true, index: '' }])
  expect(ofMessages('where seq > 1').steps).toMatchObject([{ isRange: true }])
  expect(ofMessages("where id = 'x'").steps).toMatchObject([{ isOne: true }])
  expect(ofMessages('order by payload')).toMatchObject({ isSorted: true })
})

test.each<[string, (one: Explained, step: Explained['steps'][number]) => boolean]>([
  ['scans a table', ({ isLimited }, step) => step.isScan && !(step.index && isLimited)],
  [
    'looks for rows of one tenant among those of all',
    ({ isOfTenant }, step) => isOfTenant && step.isRange,
  ],
  [
    'reads or sorts everything where there may be much',
    ({ isLimited, isSorted }, step) => !step.isOne && (!isLimited || isSorted),
  ],
])('No page %s', (_, isWrong) => {
  const wrong = [...explained.values()].flatMap((one) =>
    one.steps
      .filter((step) => !step.isFew && isWrong(one, step))
      .map(({ text }) => [text, one.statement, one.route]),
  )
  expect(wrong).toEqual([])
})
