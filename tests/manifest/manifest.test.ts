import { describe, expect, test } from 'bun:test'
import { MAX_CHANGES, MAX_ERRORS, PER_MINUTE } from '../../src/manifest/limits.ts'
import { useApp } from '../support/app.ts'

const app = await useApp()

/** One of everything, with the values that differ most from the defaults. */
const FULL = {
  tenant: { time_zone: 'Europe/Berlin' },
  jobs: [
    {
      name: 'Nightly report',
      schedule: '0 3 * * *',
      time_zone: 'Europe/Berlin',
      url: 'https://127.0.0.1/report',
      method: 'PUT',
      headers: { 'x-a': 'b' },
      body: 'one\n"two"\n',
      timeout_ms: 60_000,
      retry: { max_attempts: 3, backoff: { initial_seconds: 60 } },
      success_statuses: [200, '3xx'],
      secret_headers: { authorization: 'Bearer job-secret' },
      signed: true,
      reuse_connection: true,
      tags: ['nightly'],
      notes: 'For finance.',
      overlap: 'queue',
      is_active: false,
    },
    { name: 'Hourly', schedule: '0 * * * *', url: 'https://127.0.0.1/hourly' },
  ],
  monitors: [
    { name: 'Backup', period_seconds: 86_400, grace_seconds: 600, tags: ['db'], notes: 'At night' },
    { name: 'Import', schedule: '0 3 * * *', time_zone: 'Asia/Tokyo' },
  ],
  endpoints: [
    {
      url: 'https://127.0.0.1/hook',
      description: 'CRM',
      event_types: ['user.*'],
      channels: ['a'],
      format: 'raw',
      headers: { 'x-token': 'endpoint-secret', 'x-plain': 'shown' },
      active: false,
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    },
  ],
  channels: [
    {
      name: 'Phone',
      type: 'ntfy',
      settings: { server: 'https://127.0.0.1', topic: 'alerts', token: 'tk_secret' },
      kinds: ['job.failed'],
      min_severity: 'critical',
      active: false,
    },
    { name: 'Hook', type: 'webhook', settings: { url: 'https://127.0.0.1/alerts' } },
  ],
  sign_in: {
    methods: { passwordless_enabled: true, mfa_enabled: true },
    providers: ['google'],
    return_urls: ['https://app.example.com/welcome'],
    sessions: { lifetime_seconds: 7200, idle_timeout_seconds: 3600 },
    passwords: { min_length: 14 },
  },
  policies: 'permit (principal, action == Action::"read", resource);\n',
  user_webhooks: [{ url: 'https://127.0.0.1/users', events: ['identity.created'], active: false }],
  keys: [
    {
      name: 'Shop',
      note: 'Sends orders',
      engines: ['relay'],
      environment: 'test',
      scopes: ['relay:send'],
      expires: '90d',
    },
  ],
}

async function useTenant() {
  const tenant = await app.tenant()
  const { key, id } = await tenant.key('manifest')
  const api = app.client(key)
  const send =
    (verb: 'plan' | 'apply') =>
    async (manifest: object, query = '') =>
      api.post(`/v1/manifest/${verb}${query}`, manifest)
  const exported = async () => (await api.get('/v1/manifest')).body
  return { ...tenant, api, keyId: id, plan: send('plan'), apply: send('apply'), exported }
}

interface Change {
  action: string
  kind: string
  name: string | null
  fields: { field: string; before: unknown; after: unknown }[]
  secret?: string
  ping_url?: string
}

const named = ({ action, kind, name }: Change) => [action, kind, name].filter(Boolean).join(' ')
const namesIn = (answer: { body: { changes: Change[] } }) => answer.body.changes.map(named)
const fieldsIn = (answer: { body: { changes: Change[] } }) =>
  answer.body.changes.flatMap(({ fields }) => fields)

describe('A manifest', () => {
  test('creates everything, and applied again, planned or exported and applied, changes nothing', async () => {
    const { plan, apply, exported } = await useTenant()
    const planned = await plan(FULL)
    expect(planned).toMatchObject({ status: 200 })
    expect(await exported()).not.toHaveProperty('jobs')
    const applied = await apply(FULL)
    expect(namesIn(applied)).toEqual(namesIn(planned))
    expect(await exported()).toMatchObject({ sign_in: FULL.sign_in, policies: FULL.policies })
    expect(namesIn(applied)).toEqual([
      'update tenant',
      'create job Nightly report',
      'create job Hourly',
      'create monitor Backup',
      'create monitor Import',
      'create endpoint https://127.0.0.1/hook',
      'create channel Phone',
      'create channel Hook',
      'update sign_in.methods',
      'update sign_in.providers',
      'update sign_in.return_urls',
      'update sign_in.sessions',
      'update sign_in.passwords',
      'update policies',
      'create webhook of user events https://127.0.0.1/users',
      'create key Shop',
    ])
    for (const again of [await apply(FULL), await plan(FULL), await apply(await exported())])
      expect(again).toMatchObject({ status: 200, body: { changes: [] } })
  })

  test('that several requests apply at once, with engines in any order, creates nothing twice', async () => {
    const { apply, exported } = await useTenant()
    const full = { ...FULL, keys: [{ name: 'Both', engines: ['relay', 'gate', 'relay'] }] }
    const answers = await Promise.all([apply(full), apply(full), apply(full)])
    const counts = answers.map(({ body }) => body.changes.length)
    expect(counts.toSorted()).toEqual([0, 0, 16])
    expect((await exported()).jobs).toHaveLength(2)
  })

  test('is exported as it was written, without defaults and with masks for secrets', async () => {
    const { apply, exported } = await useTenant()
    await apply(FULL)
    const { secret: _, ...endpoint } = FULL.endpoints[0] as (typeof FULL.endpoints)[0]
    const { keys, ...rest } = await exported()
    expect(keys.find(({ name }: Change) => name === 'Shop')).toEqual(FULL.keys[0])
    expect(rest).toEqual({
      ...FULL,
      keys: undefined,
      jobs: [{ ...FULL.jobs[0], secret_headers: { authorization: '********' } }, FULL.jobs[1]],
      endpoints: [{ ...endpoint, headers: { 'x-token': '********', 'x-plain': 'shown' } }],
      channels: [
        { ...FULL.channels[0], settings: { ...FULL.channels[0]?.settings, token: '********' } },
        FULL.channels[1],
      ],
    })
  })

  test('returns what is shown only once: keys, signing secrets and ping URLs', async () => {
    const { apply, api } = await useTenant()
    const { body } = await apply(FULL)
    const of = (name: string): Change => body.changes.find((one: Change) => one.name === name)
    expect((await app.client(`${of('Shop').secret}`).post('/v1/relay/messages', {})).status).toBe(
      400,
    )
    expect(of('https://127.0.0.1/hook').secret).toBe(`${FULL.endpoints[0]?.secret}`)
    expect(of('Hook').secret).toStartWith('whsec_')
    expect((await app.raw(new URL(`${of('Backup').ping_url}`).pathname)).status).toBe(200)
    expect((await api.get('/v1/manifest')).body.jobs).toHaveLength(2)
  })

  test('changes what differs, resets what it leaves out, and masks secrets in the answer', async () => {
    const { apply, plan } = await useTenant()
    await apply(FULL)
    const [job, hourly] = FULL.jobs
    const jobs = [{ ...job, notes: undefined, secret_headers: { authorization: 'other' } }, hourly]
    for (const answer of [await plan({ jobs }), await apply({ jobs })]) {
      expect(namesIn(answer)).toEqual(['update job Nightly report'])
      expect(fieldsIn(answer)).toEqual([
        {
          field: 'secret_headers',
          before: { authorization: '********' },
          after: { authorization: '********' },
        },
        { field: 'notes', before: 'For finance.', after: null },
      ])
      expect(JSON.stringify(answer.body)).not.toContain('job-secret')
    }
    expect((await apply({ jobs })).body.changes).toEqual([])
  })

  test.each([undefined, null])('removes a secret that is %p in it', async (token) => {
    const { apply, exported } = await useTenant()
    await apply(FULL)
    const [phone, hook] = FULL.channels
    const without = (absent: unknown) => [
      { ...phone, settings: { ...phone?.settings, token: absent } },
      hook,
    ]
    const applied = await apply({ channels: without(token) })
    expect(namesIn(applied)).toEqual(['update channel Phone'])
    expect((await exported()).channels).toEqual(without(undefined))
  })

  test('leaves a paused job, and sections that it does not have, as they are', async () => {
    const { apply, exported } = await useTenant()
    await apply(FULL)
    const { is_active: _, ...job } = FULL.jobs[0] as (typeof FULL.jobs)[0]
    const before = await exported()
    expect((await apply({ jobs: [job] }, '?prune=false')).body.changes).toEqual([])
    expect(await exported()).toEqual(before)
  })

  test('deletes only with prune, and only in its sections', async () => {
    const { apply, plan, exported } = await useTenant()
    await apply(FULL)
    const less = { jobs: [FULL.jobs[1]], channels: [] }
    expect((await apply(less)).body.changes).toEqual([])
    const planned = await plan(less, '?prune=true')
    expect(namesIn(planned)).toEqual([
      'delete job Nightly report',
      'delete channel Phone',
      'delete channel Hook',
    ])
    expect(namesIn(await apply(less, '?prune=true'))).toEqual(namesIn(planned))
    const after = await exported()
    expect(after.jobs).toHaveLength(1)
    expect(after).not.toHaveProperty('channels')
    expect(after.monitors).toHaveLength(2)
  })

  test('changes the scopes of a key, which count at once, and never its engines', async () => {
    const { apply, plan } = await useTenant()
    const { body } = await apply(FULL)
    const key = app.client(body.changes.find(({ kind }: Change) => kind === 'key').secret)
    expect((await key.get('/v1/relay/endpoints')).status).toBe(403)
    const shop = { ...FULL.keys[0], scopes: ['relay:endpoints'] }
    expect(fieldsIn(await apply({ keys: [shop] }))).toEqual([
      { field: 'scopes', before: ['relay:send'], after: ['relay:endpoints'] },
    ])
    expect((await key.get('/v1/relay/endpoints')).status).toBe(200)
    const other = await plan({ keys: [{ ...shop, engines: ['clockwork'], scopes: undefined }] })
    expect(other).toMatchObject({ status: 400 })
    expect(other.body.error.message).toStartWith('keys.0.engines: cannot be changed')
  })

  test('does not revoke the key of its own request', async () => {
    const { apply, api } = await useTenant()
    const answer = await apply({ keys: FULL.keys }, '?prune=true')
    expect(answer.status).toBe(409)
    expect(answer.body.error.message).toContain('would revoke the key of this request')
    expect((await api.get('/v1/manifest')).body.keys).toHaveLength(2)
  })
})

describe('A manifest with mistakes changes nothing', () => {
  const [job] = FULL.jobs
  const [endpoint] = FULL.endpoints
  const [phone] = FULL.channels
  test.each<[string, object, string[]]>([
    ['an unknown section', { job: [] }, ['job: is not known here']],
    ['an unknown field', { jobs: [{ ...job, tag: 'a' }] }, ['jobs.0.tag: is not known here']],
    [
      'an unknown setting',
      { channels: [{ ...phone, settings: { ...phone?.settings, tokn: 'a' } }] },
      ['channels.0.settings.tokn: is not known here'],
    ],
    ['a missing field', { monitors: [{}] }, ['monitors.0.name: is required']],
    [
      'several at once',
      {
        jobs: [
          { ...job, schedule: '61 * * * *' },
          { ...job, name: 'B', url: 'ftp://a' },
        ],
      },
      ['jobs.0.schedule: ', 'jobs.1.url: '],
    ],
    [
      'one only in the database',
      { jobs: [job, { ...job, name: 'B' }], policies: 'permit' },
      ['policies: '],
    ],
    [
      'more than anyone reads',
      { monitors: Array.from({ length: 30 }, (_, n) => ({ name: `${n}` })) },
      Array.from({ length: MAX_ERRORS }, (_, n) => `monitors.${n}.period_seconds: must be set`),
    ],
    ['a name twice', { jobs: [job, job] }, ['jobs.1.name: is also that of jobs.0']],
    [
      'a mask for a secret that is not stored',
      { jobs: [{ ...job, secret_headers: { authorization: '********' } }] },
      ['jobs.0.secret_headers.authorization: must have a value'],
    ],
    [
      'a mask for a secret of a channel that is not stored',
      { channels: [{ ...phone, settings: { ...phone?.settings, token: '********' } }] },
      ['channels.0.settings.token: must have a value'],
    ],
    [
      'a name of a key that would be trimmed',
      { keys: [{ name: 'Shop ', engines: ['relay'] }] },
      ['keys.0.name: must be one line'],
    ],
    [
      'a private target',
      { endpoints: [{ ...endpoint, url: 'http://10.0.0.1/' }] },
      ['endpoints.0.url: '],
    ],
    [
      'a weak rule',
      { sign_in: { passwords: { min_length: 1 } } },
      ['sign_in.passwords.min_length: '],
    ],
    [
      'a setting in a wrong place',
      { sign_in: { min_length: 12 } },
      ['sign_in.min_length: is not known here'],
    ],
  ])('%s', async (_, manifest, messages) => {
    const { plan, apply, exported } = await useTenant()
    const before = await exported()
    const good = { monitors: FULL.monitors, ...manifest }
    for (const answer of [await plan(good), await apply(good)]) {
      expect(answer.status).toBe(400)
      const lines: string[] = answer.body.error.message.split('\n')
      expect(lines.map((line, index) => line.slice(0, messages[index]?.length))).toEqual(messages)
    }
    expect(await exported()).toEqual(before)
  })

  test('another type of a channel', async () => {
    const { apply } = await useTenant()
    await apply(FULL)
    const answer = await apply({ channels: [{ ...FULL.channels[1], type: 'http' }] })
    expect([answer.status, answer.body.error?.message]).toEqual([
      400,
      'channels.0.type: cannot be changed. Create a channel with another name',
    ])
  })

  test('a secret that differs from that of an endpoint, which a rotation has to replace', async () => {
    const { apply } = await useTenant()
    await apply(FULL)
    const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
    const answer = await apply({ endpoints: [{ ...endpoint, secret }] })
    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toStartWith('endpoints.0.secret: cannot be changed here')
  })

  test('a name that several stored objects have', async () => {
    const { apply, api, secret } = await useTenant()
    for (const _ of [1, 2]) await app.client(secret).post('/v1/clockwork/jobs', FULL.jobs[1])
    const answer = await apply({ jobs: [FULL.jobs[1]] })
    expect(answer.status).toBe(409)
    expect(answer.body.error.message).toStartWith('jobs.0.name: is that of 2 jobs')
    expect((await api.get('/v1/manifest')).body.jobs).toHaveLength(2)
  })
})

test('Plans and applications of a tenant have a limit, whatever key they use', async () => {
  const { plan } = await useTenant()
  const answers = await Promise.all(Array.from({ length: PER_MINUTE + 1 }, () => plan({})))
  expect(answers.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(1)
})

test('A manifest with more changes than others can wait for is refused', async () => {
  const { plan } = await useTenant()
  const monitors = Array.from({ length: MAX_CHANGES + 1 }, (_, n) => ({
    name: `${n}`,
    period_seconds: 60,
  }))
  expect((await plan({ monitors: monitors.slice(1) })).body.changes).toHaveLength(MAX_CHANGES)
  const answer = await plan({ monitors })
  expect([answer.status, answer.body.error.message]).toEqual([
    400,
    `would change ${MAX_CHANGES + 1} objects: apply at most ${MAX_CHANGES} at once`,
  ])
})
