import { expect, test } from 'bun:test'
import { useConsole, WITH_MAIL } from './fixture.ts'
import { addOneOfEach, environmentOf, pathOf, routesIn } from './one-of-each.ts'

const app = await useConsole({ env: WITH_MAIL })
const acme = await app.newTenant()
const parameters = await addOneOfEach(app, acme)
await app.platform.metering.flush()
const admin = await app.newAdmin()
const gets = await routesIn(app, 'GET')
const routes = gets.filter((path) => /(?<!configuration)\/export$/.test(path))
const linesOf = (text: string) => text.split(/\r?\n/).slice(0, -1)

test.each(routes)('The list behind %s is exported as CSV and NDJSON', async (route) => {
  const isOfInstallation = route.startsWith('/console/installation')
  const reader = isOfInstallation ? admin : (await acme.as('viewer')).in(environmentOf(route))
  const by = route === '/console/keys/export' ? acme.owner : reader
  const path = pathOf(route, parameters)
  const [csv, ndjson] = [
    await by.open(`${path}?format=csv`),
    await by.open(`${path}?format=ndjson`),
  ]
  expect(csv.headers.get('content-disposition')).toMatch(
    /^attachment; filename="gatehouse-[\w-]+-2026-03-01T[\d-]+Z\.csv"$/,
  )
  const rows = linesOf(ndjson.html).map((line) => JSON.parse(line))
  expect(rows.length).toBeGreaterThan(0)
  expect(linesOf(csv.html).length).toBe(rows.length + 1)
  for (const text of [csv.html, ndjson.html]) expect(text).not.toMatch(/svc_\w{20}|whsec_\w{10}/)
  for (const query of ['format=xls', 'format=csv&since=2026-02-30'])
    expect((await by.open(`${path}?${query}`)).status).toBe(400)
  if (isOfInstallation) return
  const { owner: stranger } = await app.newTenant('Other')
  const foreign = await stranger.in(environmentOf(route)).open(`${path}?format=ndjson`)
  const known = new Set(rows.map((row) => JSON.stringify(row)))
  expect(linesOf(foreign.html).filter((line) => known.has(line))).toEqual([])
})

test('An export has all rows of the filter, in its order, and no formula', async () => {
  expect(routes.length).toBeGreaterThan(17)
  const acme = await app.newTenant()
  const emails: string[] = []
  for (let n = 0; n < 130; n++) {
    const email = `${n % 2 === 0 ? 'even' : 'odd'}-${`${n}`.padStart(3, '0')}@example.com`
    const traits = { email, custom_data: { name: '=HYPERLINK("http://evil")' } }
    await acme.gate.post('/v1/gate/identities', { schema_id: 'user', traits })
    emails.push(email)
  }
  const read = async (query: string) => {
    const { html } = await acme.owner.open(`/identities/export?format=ndjson&${query}`)
    return linesOf(html).map((line) => JSON.parse(line).email)
  }
  expect(await read('sort=created')).toEqual(emails)
  expect(await read('q=even&cursor=')).toEqual(emails.filter((_, n) => n % 2 === 0).toReversed())
  const { html } = await acme.owner.open('/identities/export?format=csv')
  expect(html.match(/,"'=HYPERLINK\(""http:\/\/evil""\)",/g)).toHaveLength(130)
  const page = await acme.owner.open('/identities?q=even&sort=email')
  expect(page.links).toContain('/identities/export?q=even&sort=email&format=csv')
})
