import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { PROVIDERS } from '../../../src/config/index.ts'
import { english } from '../../../src/engines/gate/sign-in/flows/ui/words-en.ts'
import { createMailTemplates } from '../../../src/engines/gate/sign-in/mail-templates/index.ts'
import { Node } from '../../../src/engines/gate/sign-in/model.ts'
import { providers } from '../../../src/engines/gate/sign-in/social/providers/index.ts'
import { HOUR, type Json, SECOND } from '../../engines/gate/fixture.ts'
import {
  ADA,
  BOB,
  bootFactors,
  enrolled,
  halfway,
  NEW_PASSWORD,
  nextCode,
  read,
  recoveryCodes,
  withToken,
} from '../../engines/gate/sign-in/flows/acts.ts'
import { newBrowser } from '../../engines/gate/sign-in/flows/browser.ts'
import {
  bootFlows,
  type FlowFixture,
  node,
  PASSWORD,
  totpAt,
} from '../../engines/gate/sign-in/flows/fixture.ts'
import type { Answer } from '../../support/app.ts'
import { testConfig } from '../../support/config.ts'
import { openPage, plain } from '../../support/page.ts'

/** What docs/sign-in.md looks up in tables is what the server answers. */

const page = await openPage('sign-in.md')

const NEXT_MAIL = 31 * SECOND
const CODES_BY_MAIL = { passwordless_enabled: true, mfa_enabled: true }

/** A fixture with all that a tenant can switch on, and a clock that has passed the last mail. */
async function bootAll() {
  const fixture = await bootFactors()
  await fixture.security(CODES_BY_MAIL)
  return fixture
}

/** Somebody with a session, whose address may be written to. */
async function someone(fixture: FlowFixture, email = ADA): Promise<string> {
  const { session_token: token } = await fixture.register(email)
  fixture.clock.jump(NEXT_MAIL)
  return token
}

/** A code, on its way within a flow. */
async function codeSent(fixture: FlowFixture, kind: string, fields: Json): Promise<Json> {
  return fixture.sendWell(await fixture.start(kind, { 'x-return-to': 'https://app.example/' }), {
    method: 'code',
    ...fields,
  })
}

const wanting = (fixture: FlowFixture, token: string, wish: string) =>
  fixture.start('login', withToken(token), wish)

describe('the nodes of docs/sign-in.md', () => {
  const flows: Record<string, (fixture: FlowFixture) => Promise<Json>> = {
    login: (fixture) => fixture.start('login'),
    'login, code sent': (fixture) => codeSent(fixture, 'login', { identifier: ADA }),
    'login with refresh=true': async (fixture) =>
      wanting(fixture, await someone(fixture), '?refresh=true'),
    'login with aal=aal2': async (fixture) => {
      const { token } = await enrolled(fixture)
      await recoveryCodes(fixture, token)
      return wanting(fixture, (await halfway(fixture)).token, '?aal=aal2')
    },
    registration: (fixture) => fixture.start('registration'),
    'registration, code sent': (fixture) =>
      codeSent(fixture, 'registration', { traits: { email: ADA } }),
    recovery: (fixture) => fixture.start('recovery'),
    'recovery, code sent': (fixture) => codeSent(fixture, 'recovery', { email: ADA }),
    verification: (fixture) => fixture.start('verification'),
    'verification, code sent': (fixture) => codeSent(fixture, 'verification', { email: ADA }),
    'recovery or verification, by link': async (fixture) => {
      await someone(fixture)
      await codeSent(fixture, 'recovery', { email: ADA })
      const { body } = await fixture.read(fixture.linkFor(ADA))
      node(body, 'code').attributes.value = ''
      return body
    },
    'verification, sign-in required': async (fixture) => {
      await someone(fixture)
      const browser = newBrowser(fixture.app)
      const link = await browser.visit(fixture.linkFor(ADA))
      const choice = await browser.follow(await browser.press(link, ['method', 'code']))
      const nodes = choice.forms.flatMap(({ buttons }) =>
        buttons.map(([name, value]) => ({
          group: 'code',
          attributes: { name, value, type: 'submit' },
        })),
      )
      return { ui: { nodes } }
    },
    'verification, done, with X-Return-To': async (fixture) => {
      const token = await someone(fixture)
      const sent = await codeSent(fixture, 'verification', { email: ADA })
      return fixture.sendWell(sent, { code: fixture.codeFor(ADA) }, withToken(token))
    },
    settings: async (fixture) => fixture.settings(await someone(fixture)),
    'settings, with authenticator app and recovery codes': async (fixture) => {
      const { token } = await enrolled(fixture)
      await recoveryCodes(fixture, token)
      return fixture.settings(token)
    },
    'settings, new recovery codes': async (fixture) => {
      const { token } = await enrolled(fixture)
      const flow = await fixture.settings(token)
      const make = { method: 'lookup_secret', lookup_secret_regenerate: true }
      return fixture.sendWell(flow, make, withToken(token))
    },
  }

  const rows = page.table('Flow', 'Nodes, by group')

  test('are of all flows', () => {
    const others = ['login, registration with a provider', 'settings with a provider']
    expect(rows.map(([flow]) => plain(flow))).toEqual([...Object.keys(flows), ...others])
  })

  for (const [row, said = ''] of rows) {
    const flowOf = flows[plain(row)]
    if (!flowOf) continue
    test(`are those of ${plain(row)}`, async () => {
      await using fixture = await bootAll()
      expect(inWords(await flowOf(fixture))).toBe(plain(said))
    })
  }

  /** As the table has them. */
  function inWords({ ui }: Json): string {
    const own = ui.nodes.filter(({ attributes }: Json) => attributes.name !== 'csrf_token')
    const groups = Map.groupBy<string, Json>(own, ({ group }) => group)
    return [...groups]
      .map(([group, nodes]) => `${group}: ${nodes.map(nameOf).join(', ')}`)
      .join('; ')
  }

  function nameOf({ attributes: { name, id, type, value } }: Json): string {
    if (type !== 'submit' && type !== 'hidden') return name ?? id
    return `${name}=${value === '' || /@/.test(value) ? '…' : value}`
  }
})

describe('the bodies of docs/sign-in.md', () => {
  const answers: Record<string, Json> = {
    'a session': { session_token: expect.any(String), session: { active: true } },
    'the session, with aal2': { session: { authenticator_assurance_level: 'aal2' } },
    'the flow, code sent': { state: 'sent_email' },
    'the flow, done': { state: expect.stringMatching(/^(passed_challenge|success)$/) },
    'the flow, with recovery codes': { state: 'show_form' },
  }

  for (const [flow = '', body = '', answer = ''] of page.table('Flow', 'Body', 'Response')) {
    test(`${flow} ${plain(body)} is answered with ${plain(answer)}`, async () => {
      await using fixture = await bootAll()
      const wanted = JSON.parse(plain(body))
      const { fields, ...sending } = await placeFor(fixture, flow, wanted)
      const said = await fixture.send(sending.flow, filledIn(wanted, fields), sending.headers)
      expect(said).toMatchObject({ status: 200, body: answers[plain(answer)] })
      if (answer === 'the flow, with recovery codes')
        expect(node(said.body, 'lookup_secret_codes')).toBeDefined()
    })
  }

  /** With what stands for something of the reader's own. */
  const filledIn = (body: Json, fields: Json): Json =>
    JSON.parse(JSON.stringify(body), (name, value) => (value === '…' ? fields[name] : value))

  interface Place {
    flow: Json
    fields: Json
    headers?: Record<string, string>
  }

  /** A flow that the body is for, and what is filled in. */
  async function placeFor(fixture: FlowFixture, kind: string, wanted: Json): Promise<Place> {
    if (kind === 'settings') return settingsFor(fixture, wanted)
    if (wanted.totp_code || wanted.lookup_secret) return secondFactorFor(fixture)
    const token = kind === 'registration' ? undefined : await someone(fixture)
    const about = { login: { identifier: ADA }, registration: { traits: { email: ADA } } }[kind]
    const fields = { identifier: ADA, email: ADA, password: PASSWORD }
    if (!wanted.code) return { flow: await fixture.start(kind), fields }
    const flow = await codeSent(fixture, kind, about ?? { email: ADA })
    const headers = kind === 'verification' && token ? { headers: withToken(token) } : {}
    return { flow, fields: { code: fixture.codeFor(ADA) }, ...headers }
  }

  async function secondFactorFor(fixture: FlowFixture): Promise<Place> {
    const { token, secret } = await enrolled(fixture)
    const [lookup_secret] = await recoveryCodes(fixture, token)
    const half = await halfway(fixture)
    const fields = { totp_code: nextCode(fixture, secret), lookup_secret }
    return { flow: half.flow, fields, headers: withToken(half.token) }
  }

  async function settingsFor(fixture: FlowFixture, wanted: Json): Promise<Place> {
    if (wanted.totp_code) {
      const token = await someone(fixture)
      const flow = await fixture.settings(token)
      const { secret } = node(flow, 'totp_secret_key').attributes.text.context
      const fields = { totp_code: totpAt(secret, fixture.clock.now()) }
      return { flow, fields, headers: withToken(token) }
    }
    const { token } = await enrolled(fixture)
    if (wanted.lookup_secret_disable) await recoveryCodes(fixture, token)
    const headers = withToken(token)
    const flow = await fixture.settings(token)
    if (wanted.lookup_secret_confirm)
      await fixture.sendWell(flow, { lookup_secret_regenerate: 'true' }, headers)
    return { flow, fields: { email: ADA, password: NEW_PASSWORD }, headers }
  }
})

describe('the refusals of docs/sign-in.md', () => {
  const refusals: Record<string, (fixture: FlowFixture) => Promise<Answer>> = {
    flow_not_found: (fixture) => read(fixture, 'http://x/auth/self-service/login?flow=x'),
    self_service_flow_expired: async (fixture) => {
      const { ui } = await fixture.start('login')
      fixture.clock.jump(HOUR)
      const answer = await read(fixture, ui.action)
      const { use_flow_id } = answer.body
      const { href } = new URL(`login?flow=${use_flow_id}`, ui.action)
      expect(await read(fixture, href)).toMatchObject({ status: 200, body: { id: use_flow_id } })
      return answer
    },
    security_csrf_violation: async (fixture) =>
      fixture.send(await fixture.start('login'), { csrf_token: 'x' }),
    session_inactive: async (fixture) =>
      fixture.send(await fixture.settings(await someone(fixture)), {}, withToken('x')),
    security_identity_mismatch: async (fixture) => {
      const flow = await fixture.settings(await someone(fixture))
      return fixture.send(flow, {}, withToken(await someone(fixture, BOB)))
    },
    session_refresh_required: async (fixture) => {
      const token = await someone(fixture)
      fixture.clock.jump(HOUR)
      return fixture.change(token, { method: 'password', password: NEW_PASSWORD })
    },
    session_aal2_required: async (fixture) => {
      const first = await someone(fixture)
      const flow = await fixture.settings(first)
      await fixture.enrol((await fixture.signIn(ADA)).session_token)
      return fixture.send(flow, { method: 'profile', traits: { email: ADA } }, withToken(first))
    },
    other_browser: async (fixture) => {
      const flow = await fixture.settings(await someone(fixture))
      expect((await fixture.open(flow.hosted_url)).status).toBe(200)
      expect((await fixture.open(flow.hosted_url)).status).toBe(403)
      return read(fixture, flow.ui.action)
    },
  }

  const rows = page.table('`id`', 'Status', 'When')

  test('are all that there are', async () => {
    const source = await Bun.file('src/engines/gate/sign-in/flows/failure.ts').text()
    const known = /export type RefusalId =\n([\s\S]*?)\n\n/.exec(source)?.[1]?.match(/\w+/g) ?? []
    const shown = rows.map(([id]) => plain(id))
    expect(shown.toSorted()).toEqual([...known, 'browser_location_change_required'].toSorted())
  })

  for (const [row, status] of rows) {
    const refusal = refusals[plain(row)]
    if (!refusal) continue
    test(`${plain(row)} comes with status ${status}`, async () => {
      await using fixture = await bootAll()
      const answer = await refusal(fixture)
      expect(answer).toMatchObject({ status: Number(status), body: { id: plain(row) } })
      expect(answer.body.error).toBeString()
    })
  }
})

describe('the other tables of docs/sign-in.md', () => {
  const names = (...head: string[]) =>
    page
      .table(...head)
      .map(([name]) => plain(name))
      .toSorted()

  test('have every message', async () => {
    let source = ''
    for await (const file of new Glob('src/engines/gate/**/*.ts').scan())
      if (!file.includes('/ui/words-')) source += await Bun.file(file).text()
    const said = Object.entries(english.texts).filter(([id]) => source.includes(id))
    const shown = page.table('Id', 'Says').map(([id, text]) => [id, text] as [string, string])
    expect(shown).toEqual(said)
  })

  test('have every provider with its scopes', () => {
    const rows = page.table('Provider', 'Register at', 'Asked for')
    const scopes = rows.map(([name, , asked]) => [plain(name), plain(asked)])
    expect(scopes).toEqual(PROVIDERS.map((name) => [name, providers[name].scopes]))
    const never = rows.filter(([, , , trusted]) => trusted === 'never').map(([name]) => plain(name))
    expect(never).toEqual(['facebook', 'slack', 'spotify'])
  })

  test('have every email, its states, every next action and every node type', async () => {
    const about = { tenantName: 'Acme', code: '', link: 'https://gatehouse.example.org/' }
    const lifetimes = { lifetimeMs: 0, linkLifetimeMs: 0 }
    const templates = Object.values(createMailTemplates('en'))
    const given = { ...about, ...lifetimes, newAddress: ADA, isOn: true }
    const subjects = templates.map((write) => write(given).subject)
    expect(names('Mail', 'Goes to', 'When')).toEqual(subjects.toSorted())

    const schema = await Bun.file('src/platform/schema.ts').text()
    const states = /enum: \[('kept'.*)\]/.exec(schema)?.[1]?.match(/\w+/g) ?? []
    const shownStates = states.filter((state) => state !== 'leased')
    expect(names('`state`', 'Meaning')).toEqual(shownStates.toSorted())
    const model = await Bun.file('src/engines/gate/sign-in/model.ts').text()
    const actions = model.match(/(?<=action: t\.Literal\(')\w+/g) ?? []
    expect(names('`action`', 'With', 'Do')).toEqual(actions.toSorted())
    const types = Node.properties.type as unknown as { enum: string[] }
    expect(names('`type`', 'Render as')).toEqual(types.enum.toSorted())
  })
})

test('the limits of docs/sign-in.md are those of a new installation', () => {
  const { gate, limits } = testConfig()
  const { flowLifetimeMs, codeLifetimeMs, sessionLifetimeMs } = gate
  expect([flowLifetimeMs, codeLifetimeMs, sessionLifetimeMs]).toEqual([HOUR, HOUR / 4, 24 * HOUR])
  const section = page.text.slice(page.text.indexOf('## Limits'), page.text.indexOf('## Routes'))
  for (const [value, setting] of [
    ['1 hour', '[gate] flow_lifetime'],
    ['15 minutes', '[gate] code_lifetime'],
    ['24 h', '[gate] session_lifetime'],
    [`${limits.signInsPerMinute} a minute`, '[limits] sign_ins_per_minute'],
    [
      `${limits.signInsPerIdentifierPerMinute} a minute`,
      '[limits] sign_ins_per_identifier_per_minute',
    ],
  ])
    expect(section).toContain(`${value} (\`${setting}\`)`)
  expect(page.text).toContain(`at least ${gate.password.minLength} characters`)
})

test('the flow of docs/sign-in.md is what a start answers', async () => {
  await using fixture = await bootFlows()
  const flow = await fixture.start('login', {
    'x-return-to': 'https://app.example.com/back?state=1',
  })
  const shown = JSON.parse(page.block('json', '"issued_at"'))
  expect(Object.keys(shown)).toEqual(Object.keys(flow))
  expect(shown.ui.nodes).toEqual([node(flow, 'password')])
  for (const name of ['type', 'state', 'refresh', 'requested_aal'])
    expect([name, shown[name]]).toEqual([name, flow[name]])
  expect(shown.ui.action).toBe(shown.hosted_url)
})

test('the routes of docs/sign-in.md ask for the scope beside them', async () => {
  await using fixture = await bootFlows()
  const { app, acme } = fixture
  const { key } = await acme.key('gate', 'live', ['none'])
  for (const [route, scope] of page.table('Route', 'Scope')) {
    const [method = '', path = ''] = plain(route).replace('{kind}', 'login').split(' ')
    const isPublic = path.startsWith('/auth/self-service/')
    const answer = await app.raw(isPublic ? `${path}?flow=x` : `/v1/gate${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(!isPublic && { authorization: `Bearer ${key}` }),
      },
      ...(method === 'POST' && { body: '{}' }),
    })
    const asked = /^the key lacks the scope (.*)$/.exec(answer.body.error)?.[1] ?? 'none'
    expect([route, asked]).toEqual([route, plain(scope)])
  }
})
