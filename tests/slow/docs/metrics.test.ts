import { expect, test } from 'bun:test'
import { bootTestApp } from '../../support/app.ts'
import { openPage, plain } from '../../support/page.ts'
import { ROOT } from '../../support/source.ts'

/** The page on metrics, the dashboard and the alerts match a running server. */

interface Panel {
  id: number
  type: string
  description?: string
  targets?: { expr: string }[]
}

const page = await openPage('metrics.md')
const dashboard = await Bun.file(`${ROOT}/docs/grafana-dashboard.json`).json()
const panels: Panel[] = dashboard.panels
const alerts = Bun.YAML.parse(await Bun.file(`${ROOT}/docs/alerts.yml`).text()) as {
  groups: { rules: { expr: string }[] }[]
}

/** Type and labels by metric, with series that do not exist before something happens. */
const families = await (async () => {
  await using app = await bootTestApp()
  const { id, api, key } = await app.tenant()
  await api.get('/v1/clockwork/jobs')
  const relay = app.client((await key('relay', 'live')).key)
  const event = { event_type: 'a', payload: {} }
  await relay.post('/v1/relay/messages', event)
  await app.platform.tenants.suspend({ kind: 'cli' }, id, 'billing')
  expect(await relay.post('/v1/relay/messages', event)).toMatchObject({ status: 402 })
  // Requests are counted after the response.
  await new Promise((resolve) => setImmediate(resolve))
  return familiesIn((await app.raw('/metrics')).body)
})()

function familiesIn(text: string) {
  const found = new Map<string, { type: string; labels: Set<string> }>()
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
    found.set(name, { type, labels: new Set() })
  for (const [, sample = '', labels = ''] of text.matchAll(/^(\w+)(?:{(.*)})? \S+$/gm))
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g))
      if (label !== 'le') found.get(familyOf(found, sample))?.labels.add(label)
  return found
}

/** The metric of a sample: a histogram has samples under three names. */
function familyOf(known: ReadonlyMap<string, { type: string }>, sample: string): string {
  const base = sample.replace(/_(bucket|sum|count)$/, '')
  return known.get(base)?.type === 'histogram' ? base : sample
}

/** Type and labels by metric, as the page has them. */
const documented = new Map(
  page.text
    .split('\n')
    .filter((line) => /^\| `gatehouse_\w+` +\|/.test(line))
    .map((line) => {
      const [, name, kind = ''] = line.split('|').map((cell) => plain(cell).trim())
      const [type, labels = ''] = kind.split(': ')
      return [name as string, { type, labels: labels.split(', ').filter(Boolean) }] as const
    }),
)

test('The page has all metrics, with their types and labels, and names in the style of Prometheus', () => {
  expect([...documented.keys()].toSorted()).toEqual([...families.keys()].toSorted())
  for (const [name, { type, labels }] of families) {
    const said = documented.get(name)
    expect([name, said?.type]).toEqual([name, type])
    // A metric without samples shows no labels.
    if (labels.size > 0)
      expect([name, said?.labels.toSorted()]).toEqual([name, [...labels].toSorted()])
    expect(name).toMatch(/^gatehouse(_[a-z]+)+$/)
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
    expect(name).not.toMatch(/_(bucket|sum|count|counter|gauge|histogram)$/)
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|kb|mb|percent)(_total)?$/)
  }
})

test('Other pages name only metrics that exist', async () => {
  for (const name of ['scale.md', 'backup.md', 'litestream.md']) {
    const named = (await openPage(name)).text.match(/\bgatehouse(_[a-z]+)+/g) ?? []
    const unknown = named.filter((metric) => !families.has(familyOf(families, metric)))
    expect([name, unknown]).toEqual([name, []])
  }
})

/** The metrics of a query, each with the labels that it selects. */
const selectorsIn = (expr: string) =>
  [...expr.matchAll(/\b(gatehouse_\w+|up)\b(?:{([^}]*)})?/g)].map(
    ([, sample = '', within = '']) => ({
      sample,
      labels: [...within.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }),
  )

function labelsOf(sample: string): string[] {
  const labels = documented.get(familyOf(families, sample))?.labels ?? []
  // The first two are added by Prometheus.
  return [...labels, 'job', 'instance', ...(sample.endsWith('_bucket') ? ['le'] : [])]
}

const panelQueries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const alertQueries = alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))

test('The queries of the dashboard and the alerts fit the metrics', () => {
  for (const expr of [...panelQueries, ...alertQueries]) {
    expect([expr, selectorsIn(expr).length]).not.toEqual([expr, 0])
    for (const { sample, labels } of selectorsIn(expr)) {
      const type = sample === 'up' ? 'gauge' : families.get(familyOf(families, sample))?.type
      expect([sample, type]).toEqual([sample, expect.any(String)])
      if (type === 'histogram') expect(sample).toMatch(/_(bucket|sum|count)$/)
      expect(labelsOf(sample)).toEqual(expect.arrayContaining(labels))
      const isCounted = /_(total|bucket|sum|count)$/.test(sample)
      const isRated = new RegExp(`(rate|increase)\\(${sample}({[^}]*})?\\[`).test(expr)
      expect([expr, sample, isRated]).toEqual([expr, sample, isCounted])
    }
    const known = selectorsIn(expr).flatMap(({ sample }) => labelsOf(sample))
    for (const [, by = ''] of expr.matchAll(/\bby\s*\(([^)]*)\)/g))
      expect(known).toEqual(expect.arrayContaining(by.split(/,\s*/)))
  }
})

test('The dashboard shows every metric, and asks for its data source at import', () => {
  const shown = panelQueries.flatMap((expr) =>
    selectorsIn(expr).map(({ sample }) => familyOf(families, sample)),
  )
  expect([...families.keys()].filter((name) => !shown.includes(name))).toEqual([])
  expect(panels.filter(({ type, description }) => type !== 'row' && !description)).toEqual([])
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  expect(dashboard.__inputs).toMatchObject([{ name: 'DS_PROMETHEUS', pluginId: 'prometheus' }])
  const uids = [...JSON.stringify(dashboard).matchAll(/"uid":"([^"]+)"/g)].map(([, uid]) => uid)
  expect([...new Set(uids)].toSorted()).toEqual([`\${DS_PROMETHEUS}`, 'gatehouse'])
})

test('An alert notices one process of several that is down', () => {
  const [, job = ''] = /job_name: (\S+)/.exec(page.text) ?? []
  expect(alertQueries).toContain(`up{job="${job}"} == 0`)
})
