import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { bootTestApp, type TestApp } from './support/app.ts'

/** What docs/metrics.md, the dashboard and the alerts say is held against a running server. */

const DOCS = join(import.meta.dir, '..', 'docs')
const PAGE = await Bun.file(join(DOCS, 'metrics.md')).text()
const DASHBOARD = await Bun.file(join(DOCS, 'grafana-dashboard.json')).json()
const ALERTS = Bun.YAML.parse(await Bun.file(join(DOCS, 'alerts.yml')).text()) as Alerts

interface Alerts {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[]
}

interface Panel {
  type: string
  title: string
  description?: string
  targets?: { expr: string }[]
}

interface Family {
  type: string
  labels: Set<string>
}

/** Labels that Prometheus adds by itself. */
const TARGET_LABELS = ['job', 'instance']

const families = await (async () => {
  await using app = await bootTestApp()
  await makeTraffic(app)
  return familiesIn((await app.raw('/metrics')).body)
})()

/** Some of what has no series before it happens. */
async function makeTraffic(app: TestApp) {
  const { id, api, key } = await app.tenant()
  await api.get('/v1/clockwork/jobs')
  const relay = app.client((await key('relay', 'live')).key)
  const event = { event_type: 'a', payload: {} }
  await relay.post('/v1/relay/messages', event)
  await app.platform.tenants.suspend({ kind: 'cli' }, id, 'billing')
  expect(await relay.post('/v1/relay/messages', event)).toMatchObject({ status: 402 })
  // Answered requests are counted after the answer.
  await new Promise((resolve) => setImmediate(resolve))
}

/** What a query may ask for: Prometheus itself notes of each target whether it answered. */
const queried = new Map<string, Family>([
  ...families,
  ['up', { type: 'gauge', labels: new Set(TARGET_LABELS) }],
])

function familiesIn(text: string): Map<string, Family> {
  const found = new Map<string, Family>()
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
    found.set(name, { type, labels: new Set() })
  for (const [, sample = '', labels = ''] of text.matchAll(/^(\w+)(?:{(.*)})? \S+$/gm))
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g))
      if (label !== 'le') found.get(familyOf(found, sample))?.labels.add(label)
  return found
}

/** A histogram has samples under three names. */
function familyOf(known: ReadonlyMap<string, Family>, sample: string): string {
  const base = sample.replace(/_(bucket|sum|count)$/, '')
  return known.get(base)?.type === 'histogram' ? base : sample
}

const panels: Panel[] = DASHBOARD.panels
const panelQueries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ where: title, expr })),
)
const alertQueries = ALERTS.groups.flatMap(({ rules }) =>
  rules.map(({ alert, expr }) => ({ where: alert, expr })),
)

describe('the table of docs/metrics.md', () => {
  const rows = [
    ...PAGE.matchAll(/^\| `(gatehouse_\w+)` +\| (\w+)(?:: ([\w, ]+?))? +\| (.+?) +\|$/gm),
  ]
  const documented = new Map(
    rows.map(([, name = '', type = '', labels = '']) => [
      name,
      { type, labels: labels.split(', ').filter((label) => label !== '') },
    ]),
  )

  test('has all metrics that a server shows, and no others', () => {
    expect(documented.size).toBe(rows.length)
    expect([...documented.keys()].toSorted()).toEqual([...families.keys()].toSorted())
  })

  test.each([...families])('has the type and the labels of %s', (name, { type, labels }) => {
    const said = documented.get(name)
    expect(said?.type).toBe(type)
    expect([...labels].filter((label) => !said?.labels.includes(label))).toEqual([])
    // What has not happened in this test has no series that could tell its labels.
    if (labels.size > 0) expect(said?.labels.toSorted()).toEqual([...labels].toSorted())
  })
})

describe('names', () => {
  test.each([...families])('%s is as Prometheus would have it', (name, { type }) => {
    expect(name).toMatch(/^gatehouse(_[a-z]+)+$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    expect(name).not.toMatch(/_(bucket|sum|count|counter|gauge|histogram)$/)
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|kb|mb|percent)(_total)?$/)
  })
})

describe.each([
  ['the dashboard', panelQueries],
  ['the alerts', alertQueries],
])('every query of %s', (_, queries) => {
  test.each(queries)('$where: $expr', ({ expr }) => {
    const selectors = selectorsIn(expr)
    expect(selectors.length).toBeGreaterThan(0)
    for (const { sample, labels } of selectors) {
      const family = queried.get(familyOf(queried, sample))
      expect([sample, family?.type]).toEqual([sample, expect.any(String)])
      if (family?.type === 'histogram') expect(sample).toMatch(/_(bucket|sum|count)$/)
      for (const label of labels) expect(labelsOf(sample)).toContain(label)
    }
    for (const { labels, samples } of groupingsIn(expr))
      for (const sample of samples)
        for (const label of labels) expect(labelsOf(sample)).toContain(label)
  })

  test('rates what counts, and nothing else', () => {
    for (const { expr } of queries)
      for (const { sample } of selectorsIn(expr)) {
        const isCounted = /_(total|bucket|sum|count)$/.test(sample)
        const isRated = new RegExp(`(rate|increase)\\(${sample}({[^}]*})?\\[`).test(expr)
        expect([expr, isRated]).toEqual([expr, isCounted])
      }
  })
})

/** Those of a family that has not happened yet are as documented. */
function labelsOf(sample: string): string[] {
  const name = familyOf(families, sample)
  const row = PAGE.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? ''
  const documented = /^\| \S+ +\| \w+: ([\w, ]+?) +\|/.exec(row)?.[1]?.split(', ') ?? []
  return [...documented, ...TARGET_LABELS, ...(sample.endsWith('_bucket') ? ['le'] : [])]
}

function selectorsIn(expr: string): { sample: string; labels: string[] }[] {
  return [...expr.matchAll(/\b(gatehouse_\w+|up)\b(?:{([^}]*)})?/g)].map(
    ([, sample = '', within]) => ({
      sample,
      labels: [...(within ?? '').matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(
        ([, label = '']) => label,
      ),
    }),
  )
}

/** What stands in each `by (…)`, with the metrics of the parentheses behind it. */
function groupingsIn(expr: string): { labels: string[]; samples: string[] }[] {
  return [...expr.matchAll(/\bby\s*\(([^)]*)\)\s*\(/g)].map((match) => ({
    labels: (match[1] ?? '').split(',').map((label) => label.trim()),
    samples: selectorsIn(inParentheses(expr.slice(match.index + match[0].length))).map(
      ({ sample }) => sample,
    ),
  }))
}

/** Up to the parenthesis that closes one opened before. */
function inParentheses(text: string): string {
  let depth = 1
  const end = [...text].findIndex((character) => {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0
    return depth === 0
  })
  return text.slice(0, end)
}

describe('the dashboard', () => {
  test('shows every metric', () => {
    const shown = panelQueries.flatMap(({ expr }) =>
      selectorsIn(expr).map(({ sample }) => familyOf(families, sample)),
    )
    expect([...families.keys()].filter((name) => !shown.includes(name))).toEqual([])
  })

  test('has its rows, and says of each panel in words what it shows', () => {
    const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title)
    expect(rows).toEqual([
      'Overview',
      'HTTP',
      'Jobs',
      'Deliveries',
      'Sign-in',
      'Mail',
      'Storage & backups',
      'Process',
    ])
    const silent = panels.filter(({ type, description }) => type !== 'row' && !description)
    expect(silent).toEqual([])
  })

  test('asks for its source of data when it is imported, and uses no other', () => {
    expect(DASHBOARD.__inputs).toMatchObject([{ name: 'DS_PROMETHEUS', pluginId: 'prometheus' }])
    const uids = [...JSON.stringify(DASHBOARD).matchAll(/"uid":"([^"]+)"/g)].map(([, uid]) => uid)
    expect([...new Set(uids)].toSorted()).toEqual([`\${DS_PROMETHEUS}`, 'gatehouse'])
  })

  test('has no two panels with one number, and none upon another', () => {
    const placed = DASHBOARD.panels.map(
      ({ id, gridPos }: { id: number; gridPos: { x: number; y: number; w: number } }) => ({
        id,
        place: `${gridPos.x} ${gridPos.y}`,
        fits: gridPos.x + gridPos.w <= 24,
      }),
    )
    const differing = (key: 'id' | 'place') =>
      new Set(placed.map((panel: Record<string, unknown>) => panel[key])).size
    expect([differing('id'), differing('place')]).toEqual([placed.length, placed.length])
    expect(placed.filter(({ fits }: { fits: boolean }) => !fits)).toEqual([])
  })
})

describe('the alerts', () => {
  test('know of one process of several that does not answer', () => {
    const asked = alertQueries.find(({ expr }) => selectorsIn(expr)[0]?.sample === 'up')
    const [, name = ''] = /job_name: (\S+)/.exec(PAGE) ?? []
    expect(asked?.expr).toBe(`up{job="${name}"} == 0`)
  })

  test('are few, and each says what is the matter', () => {
    const rules = ALERTS.groups.flatMap((group) => group.rules)
    expect(rules.length).toBe(11)
    for (const { alert, annotations } of rules) {
      expect(alert).toStartWith('Gatehouse')
      expect(annotations.summary).toEndWith('.')
    }
  })
})
