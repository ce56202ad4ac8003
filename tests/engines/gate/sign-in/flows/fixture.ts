import { expect } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import type { Answer, TestApp } from '../../../../support/app.ts'
import { bootGate, bootParty, type Gate, type GateOptions, type Json } from '../../fixture.ts'

export const AUTH = '/v1/gate/auth'
export const SELF_SERVICE = '/auth/self-service'
export const PASSWORD = 'correct horse battery'

export type FlowFixture = Awaited<ReturnType<typeof bootFlows>>
export type Flows = Pick<FlowFixture, 'app' | 'clock' | 'key'> & Gate & ReturnType<typeof flowsOf>

type HeaderValues = Record<string, string>

/** Limits on attempts have tests of their own. */
export const UNHURRIED = {
  'limits-sign-ins-per-minute': '100000',
  'limits-sign-ins-per-identifier-per-minute': '100000',
}

const CHEAP = { 'gate-password-memory': '8MB', 'gate-password-iterations': '1' }

export async function bootFlows(options: GateOptions = {}) {
  const fixture = await bootGate({ ...options, flags: { ...CHEAP, ...options.flags } })
  return {
    ...fixture,
    ...flowsOf(fixture.app, { ...fixture, tenantId: fixture.acme.id }),
    [Symbol.asyncDispose]: () => fixture.app.stop(),
  }
}

export async function flowParty(app: TestApp, name = 'Other') {
  const party = await bootParty(app, name)
  return { ...party, ...flowsOf(app, { tenantId: party.id, ...party }) }
}

export const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** The node with this name, and this value if one is given. */
export const node = ({ ui }: Json, name: string, value?: unknown): Json =>
  ui.nodes.find(
    ({ attributes }: Json) =>
      (attributes.name === name || attributes.id === name) &&
      (value === undefined || attributes.value === value),
  )

export const csrfOf = (flow: Json): string => node(flow, 'csrf_token').attributes.value

/** `group:name` or `group:name=value` of each node but the token. */
export const nodeNames = ({ ui }: Json): string[] =>
  ui.nodes
    .filter(({ attributes }: Json) => attributes.name !== 'csrf_token')
    .map(({ group, attributes: { name, id, type, value } }: Json) =>
      type === 'submit' || type === 'hidden'
        ? `${group}:${name}=${value}`
        : `${group}:${name ?? id}`,
    )

/** The message ids of a flow; those of fields as `field:id`, which must be above the form too. */
export function messageIds({ ui }: Json): (number | string)[] {
  const above: number[] = (ui.messages ?? []).map(({ id }: Json) => id)
  const beside: [field: string, id: number][] = ui.nodes.flatMap(({ attributes, messages }: Json) =>
    messages.map(({ id }: Json) => [attributes.name, id]),
  )
  const ofFields = beside.map(([, id]) => id)
  for (const id of ofFields) expect(above).toContain(id)
  const ofForm = above.filter((id) => !ofFields.includes(id))
  return [...ofForm, ...beside.map(([field, id]) => `${field}:${id}`)]
}

export const totpAt = (secret: string, now: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now })

/** Flows as a tenant's server and its users use them. */
export function flowsOf(
  app: TestApp,
  { tenantId, key, api }: { tenantId: string; key: string; api: Gate['api'] },
) {
  const bearer = { authorization: `Bearer ${key}` }

  const ask = (kind: string, headers: HeaderValues = {}, query = ''): Promise<Answer> =>
    app.raw(`${AUTH}/${kind}${query}`, { headers: { ...bearer, ...headers } })

  /** Session tokens by flow: a front end sends them along. */
  const tokens = new Map<string, string>()
  const flowIn = (url: string) => new URL(url).searchParams.get('flow') ?? ''

  async function start(kind: string, headers: HeaderValues = {}, query = ''): Promise<Json> {
    const answer = await ask(kind, headers, query)
    expect(answer).toMatchObject({ status: 200 })
    if (headers['x-session-token']) tokens.set(answer.body.id, headers['x-session-token'])
    return answer.body
  }

  const tokenOf = (url: string): HeaderValues => {
    const token = tokens.get(flowIn(url))
    return token === undefined ? {} : { 'x-session-token': token }
  }

  /** Sends a form as a front end does: to its action, as JSON, with its token. */
  async function send({ ui }: Json, fields: Json, headers: HeaderValues = {}): Promise<Answer> {
    const type = { 'content-type': 'application/json', accept: 'application/json' }
    const answer = await app.raw(pathOf(ui.action), {
      method: 'POST',
      headers: { ...type, ...tokenOf(ui.action), ...headers },
      body: JSON.stringify({ csrf_token: csrfOf({ ui }), ...fields }),
    })
    // Keeps the token of a first factor for the flow that asks for the second.
    for (const { action, redirect_browser_to: url } of answer.body.continue_with ?? [])
      if (action === 'redirect_browser_to') tokens.set(flowIn(url), answer.body.session_token)
    return answer
  }

  /** Reads a flow as a front end does. */
  const read = (url: string, headers: HeaderValues = {}): Promise<Answer> =>
    app.raw(pathOf(url), { headers: { accept: 'application/json', ...tokenOf(url), ...headers } })

  /** Submits a form as the tenant's server does. */
  const submit = (kind: string, fields: Json, headers: HeaderValues = {}) =>
    app.raw(`${AUTH}/${kind}/submit`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(fields),
    })

  async function sendWell(flow: Json, fields: Json, headers: HeaderValues = {}): Promise<Json> {
    const answer = await send(flow, fields, headers)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  async function register(email: string, password = PASSWORD, traits: Json = {}): Promise<Json> {
    const flow = await start('registration')
    return sendWell(flow, { method: 'password', traits: { email, ...traits }, password })
  }

  const tryPassword = async (identifier: string, password = PASSWORD): Promise<Answer> =>
    send(await start('login'), { method: 'password', identifier, password })

  const signIn = async (identifier: string, password = PASSWORD): Promise<Json> =>
    sendWell(await start('login'), { method: 'password', identifier, password })

  const settings = (token: string) => start('settings', { 'x-session-token': token })

  const change = async (token: string, fields: Json): Promise<Answer> =>
    send(await settings(token), fields, { 'x-session-token': token })

  const security = (switches: Json) => api.put('/v1/gate/settings/security', switches)

  /** Adds an authenticator and returns its secret; the session then has both factors. */
  async function enrol(token: string): Promise<string> {
    const flow = await settings(token)
    const secret = node(flow, 'totp_secret_key').attributes.text.context.secret as string
    const totp_code = totpAt(secret, app.clock.now())
    const answer = await send(flow, { method: 'totp', totp_code }, { 'x-session-token': token })
    expect(answer).toMatchObject({ status: 200, body: { state: 'success' } })
    return secret
  }

  /** All mails to an address, newest first, also those that were withheld. */
  const mailsTo = (address: string) =>
    app.mail.outbox
      .list({ tenantId }, { limit: 1000 })
      .data.filter(({ recipient }) => recipient === address)
      .map(({ id }) => app.mail.outbox.read({ tenantId }, id))

  const sentTo = (address: string) => mailsTo(address).filter((mail) => mail?.body)
  const textTo = (address: string) => sentTo(address)[0]?.body?.text ?? ''

  function codeFor(address: string): string {
    const code = /^ {4}(\d{6})$/m.exec(textTo(address))?.[1]
    expect(code).toBeString()
    return code as string
  }

  const linkFor = (address: string): string => /https?:\/\/\S+/.exec(textTo(address))?.[0] ?? ''

  const open = (url: string, headers: HeaderValues = {}) =>
    app.raw(pathOf(url), { headers: { accept: 'text/html', ...headers } })

  function post(url: string, fields: Record<string, string>, headers = {}): Promise<Answer> {
    const type = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(fields).toString()
    return app.raw(pathOf(url), { method: 'POST', headers: { ...type, ...headers }, body })
  }

  return {
    ...{ tenantId, ask, start, send, read, sendWell, submit, register, tryPassword, signIn },
    ...{ settings, change, security, enrol, mailsTo, sentTo, codeFor, linkFor, open, post },
  }
}
