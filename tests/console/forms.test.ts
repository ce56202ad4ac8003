import { expect, test } from 'bun:test'
import { unescaped } from '../support/http-browser.ts'
import { useConsole, written } from './fixture.ts'
import { addOneOfEach, pathOf } from './one-of-each.ts'

const LONG = 'x'.repeat(10_000)
/** The longest description of an endpoint, in letters of two code units each. */
const LONGEST = '😀'.repeat(500)
const DEEP = `{"a":${'['.repeat(70)}${']'.repeat(70)}}`
const WEBHOOK = { url: 'https://a.example/hook', 'events[]': 'identity.login' }
const SECRETS = ['password', 'secret']
/** Fields that can hold nothing but their choices. */
const CHOICES = ['method', 'role', 'plan', 'events[]', 'which']

const app = await useConsole({ start: '2026-03-10T12:00:00.000Z' })
const acme = await app.newTenant('Acme', 'metered')
const admin = await app.newAdmin()
const parameters = await addOneOfEach(app, acme)
const taken = `ada-${acme.id}@example.com`
const JOB = {
  name: 'kept "<b>',
  schedule: '0 3 * * *',
  url: 'https://a.example/?a&b',
  method: 'POST',
  headers: 'X-Token: <abc>',
  body: 'kept <b>',
}
const { schedule: _, ...DELAYED } = { ...JOB, run_at: '2026-04-01T00:00' }
const ENDPOINT = {
  url: 'https://hooks.shop.example/in',
  format: 'standard',
  description: 'kept <b>',
}

/** Forms with what is typed into them, and the values that each of their fields refuses. */
const FORMS: [path: string, typed: Record<string, string>, wrong: Record<string, string[]>][] = [
  [
    '/jobs/new',
    JOB,
    {
      name: [' ', LONG],
      schedule: ['whenever', '0 0 1 * 1'],
      url: ['nowhere', 'http://10.0.0.1/'],
      method: ['BREW'],
      headers: ['X-A: 1\nX-A: 2', 'Bad Name: 1', 'X'],
    },
  ],
  ['/jobs/:id/edit', JOB, { schedule: ['61 * * * *'] }],
  [
    '/delayed/new',
    DELAYED,
    {
      name: ['', LONG],
      run_at: ['', '2020-01-01T00:00', '2026-02-30T00:00'],
      url: ['ftp://example.com'],
      headers: ['no colon'],
    },
  ],
  [
    '/identities/new',
    { email: 'a@example.com', metadata: '{"kept": "<b>"}' },
    {
      email: ['no address', taken],
      password: [LONG],
      metadata: ['[<script>]', '[]', '{"n": 12345678901234567890}', '{"__proto__": 1}'],
    },
  ],
  [
    '/endpoints/new',
    ENDPOINT,
    {
      url: ['', 'ftp://example.com'],
      description: [`${LONGEST}x`],
      event_types: ['no such!type', Array.from({ length: 101 }, (_, n) => `t${n}`).join(',')],
      channels: ['a b c d e f g h i j k'],
      headers: ['without a colon', 'X-A: 1\nx-a: 2'],
      format: ['xml'],
      secret: ['whsec_short'],
    },
  ],
  ['/endpoints/:id/edit', ENDPOINT, { url: ['nowhere'] }],
  [
    '/endpoints/:id/replay',
    { since: '2026-03-01T00:00:00Z' },
    {
      since: ['yesterday', '2027-01-01T00:00:00Z'],
      until: ['2020-01-01T00:00:00Z'],
      which: ['some'],
      per_second: ['0'],
    },
  ],
  [
    '/messages/new',
    { event_type: 'order.paid', payload: '{"order": 42}' },
    {
      event_type: ['no such!type', ''],
      payload: ['{"order": ', '[1]', '', DEEP],
      channels: ['not/one', 'a b c d e f g h i j k'],
    },
  ],
  [
    '/webhooks/new',
    WEBHOOK,
    { url: ['nonsense', '', `https://a.example/${LONG}`], 'events[]': ['', '<script>'] },
  ],
  ['/webhooks/:id', WEBHOOK, { url: ['nonsense'] }],
  [
    '/team/invite',
    { email: 'bo@example.com', role: 'viewer' },
    { email: ['no address', '', `${LONG}@example.com`], role: ['king', ''] },
  ],
  [
    '/settings/security/sessions',
    {},
    { lifetime: ['soon', '1s', '4000d', '<b>'], idle: ['1m', '-5m'] },
  ],
  ['/settings/security/passwords', {}, { min_length: ['7', '129', 'ten', '1e2'] }],
  [
    '/settings',
    { name: 'Acme', time_zone: 'UTC' },
    { name: [' ', '<script>\u202e', LONG], time_zone: ['', 'Mars/Olympus', '+01:00', '<b>'] },
  ],
  [
    '/usage/cap',
    {},
    { spend_cap: ['', 'much', '-1', '1e3', '1,000', '1.234', '20 EUR', '99999999999999'] },
  ],
  ['/welcome', {}, { tenant: ['x'.repeat(201)] }],
  [
    '/installation/tenants/new',
    { name: 'kept <b>', plan: 'free' },
    { name: ['', 'a\nb', 'x'.repeat(201)], plan: ['gold', ''] },
  ],
  [
    '/installation/tenants/:id/change',
    { name: 'kept <b>', plan: 'metered' },
    { spend_cap: ['-1', '1.555', 'lots'] },
  ],
]

test.each(FORMS)(
  'The form %s keeps what was typed and has errors beside their fields',
  async (route, typed, wrong) => {
    const { open, send } = route.startsWith('/installation') ? admin : acme.owner
    const path = pathOf(`/console${route}`, parameters)
    await open('/console')
    await app.platform.metering.flush()
    for (const [field, values] of Object.entries(wrong))
      for (const value of values) {
        const fields = Object.entries({ ...typed, [field]: value })
        const before = written(app)
        const page = (await send(path, fields)).omits('<script>', '<b>', '<abc>')
        const html = unescaped(page.html)
        const lost = fields.filter(([name, value]) => {
          const isForgotten = SECRETS.includes(name) || (name === field && CHOICES.includes(name))
          return !isForgotten && !html.includes(value.trim().replace('\u202e', ''))
        })
        const found = { status: page.status, wrong: page.wrong, lost, wrote: written(app) - before }
        const right = { status: 422, wrong: [field.replace('[]', '')], lost: [], wrote: 0 }
        expect({ field, value, ...found }).toEqual({ field, value, ...right })
      }
  },
)

test('A form has all errors at once, with a summary, and never the secrets that were typed', async () => {
  const { send } = acme.owner
  const page = await send('/jobs/new', {
    ...JOB,
    name: '',
    schedule: 'no',
    url: 'nowhere',
    headers: 'X',
  })
  expect(page.says('Fix 4 problems').wrong.toSorted()).toEqual([
    'headers',
    'name',
    'schedule',
    'url',
  ])
  ;(await send('/endpoints/new', { ...ENDPOINT, secret: 'whsec_short' })).omits('whsec_short')
  ;(await send('/identities/new', { email: '', password: 'correct horse' })).omits('correct horse')
})

test('A refused private URL says how the operator of the server allows it', async () => {
  const { owner, api, relay } = await app.newTenant()
  const url = 'http://localhost:3000/hook'
  const job = { name: 'a', schedule: '* * * * *', url }
  for (const page of [
    await owner.send('/jobs/new', { ...job, method: 'POST' }),
    await owner.send('/endpoints/new', { url, format: 'standard' }),
    await owner.send('/webhooks/new', { url, 'events[]': 'identity.login' }),
  ]) {
    expect(page.status).toBe(422)
    page.says('href="#field-url"', 'gatehouse.toml', 'GATEHOUSE_OUTBOUND_ALLOW=localhost:3000')
    expect(page.html).toContain('allow = [&quot;localhost:3000&quot;]')
  }
  const refusals = [
    (await api.post('/v1/clockwork/jobs', job)).body.error,
    (await relay.post('/v1/relay/endpoints', { url })).body.error.message,
  ]
  for (const message of refusals) {
    expect(message).toStartWith('url: must be publicly reachable, but localhost is')
    expect(message).toContain('allow = ["localhost:3000"] under [outbound] in gatehouse.toml')
  }
  const metadata = await owner.send('/endpoints/new', {
    url: 'http://169.254.169.254/',
    format: 'standard',
  })
  expect(metadata.status).toBe(422)
  metadata.omits('GATEHOUSE_OUTBOUND_ALLOW')
})
