import { describe, expect, test } from 'bun:test'
import { ENDPOINTS_PER_STREAM } from '../../src/delivery/limits.ts'
import { JOBS_PER_TENANT } from '../../src/engines/clockwork/limits.ts'
import { MAX_CHANNELS } from '../../src/engines/notifications/channels/channels.ts'
import type { Answer } from '../support/app.ts'
import { testConfig } from '../support/config.ts'
import { expectRefused, pathOf, populate, useContract } from './fixture.ts'
import { inOrder, type Json, type Operation } from './operations.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const contract = await useContract()
const { app, operations, send } = contract

test('Every operation answers a key with all scopes as the API document says', async () => {
  const acme = await contract.tenant('Acme')
  const ids = await populate(contract, acme)
  const refused: Record<string, number> = {}
  for (const operation of inOrder(operations)) {
    const environment = operation.engine === 'passepartout' ? 'test' : 'live'
    const key = await acme.keyOf(operation.engine, environment)
    const { status } = await send(operation, `Bearer ${key}`, { ids })
    if (status >= 300) refused[operation.name] = status
  }
  // They need a session, a flow, a token, a nonce, or the name of a tenant, which examples can't name.
  expect(refused).toEqual({
    'DELETE /v1/installation/tenants/{tenant_id}': 400,
    'GET /v1/gate/auth/settings': 401,
    'GET /v1/passepartout/login/status': 400,
    'POST /v1/gate/auth/recovery/submit': 404,
    'POST /v1/gate/auth/settings/submit': 404,
    'POST /v1/gate/auth/verification/submit': 404,
    'POST /v1/gate/sessions/exchange': 404,
    'POST /v1/gate/tokens/introspect': 400,
    'POST /v1/gate/tokens/revoke': 400,
  })
})

test('A path that is none answers 404 in the shape of its engine', async () => {
  for (const prefix of [
    '/v1/gate',
    '/v1/clockwork',
    '/v1/passepartout',
    '/v1/relay',
    '/v1/installation',
    '/access/v1',
  ])
    for (const path of [prefix, `${prefix}/`, `${prefix}/nothing`, `${prefix}/nothing/x`])
      for (const method of METHODS) {
        const answer = await app.raw(path, { method })
        expectRefused(`${method} ${path}`, answer, 404)
        const isCoded = /relay|passepartout|installation|access/.test(prefix)
        expect(typeof answer.body.error, path).toBe(isCoded ? 'object' : 'string')
      }
})

test('A path answers 405 to other methods, and names its own', async () => {
  const served = new Map<string, Set<string>>()
  for (const [path, methods] of Object.entries(contract.document.paths as object))
    if (/^\/(v1|access)\//.test(path))
      served.set(path, new Set(Object.keys(methods).map((method) => method.toUpperCase())))
  for (const [path, methods] of served) {
    // A fixed name could be an id of the path beside it.
    const beside = path.replace(/\/[^/]+$/, '')
    for (const [other, more] of served)
      if (
        !path.endsWith('}') &&
        other.startsWith(`${beside}/{`) &&
        other.split('/').length === path.split('/').length
      )
        for (const method of more) methods.add(method)
    for (const method of METHODS.filter((each) => !methods.has(each))) {
      const answer = await app.raw(pathOf({ path } as Operation, {}), { method })
      expectRefused(`${method} ${path}`, answer, 405)
      expect(answer.headers.get('allow')?.split(', ').toSorted(), path).toEqual(
        [...methods].toSorted(),
      )
    }
  }
})

describe('The document shows an error as the operation answers it', async () => {
  const acme = await contract.tenant('Acme')
  const ids = await populate(contract, acme)
  const suspended = await contract.tenant('Suspended')
  await app.platform.tenants.suspend({ kind: 'cli', source: 'test' }, suspended.id, 'billing')

  const keyOf = async ({ engine }: Operation, tenant = acme) =>
    `Bearer ${await tenant.keyOf(engine, engine === 'passepartout' ? 'test' : 'live')}`

  function expectShown({ name, errors }: Operation, { status, body }: Answer, wanted: number) {
    const withoutId = (error: Json) => JSON.parse(JSON.stringify(error).replace(/req_[\w-]+/, ''))
    expect([name, status, withoutId(body)]).toEqual([name, wanted, withoutId(errors[wanted])])
  }

  /** The request that its example of a 400 is about: a value is missing or wrong, or a parameter unknown. */
  async function sendWrong(operation: Operation) {
    const { errors, example, query } = operation
    const message: string = errors[400].error.message ?? errors[400].error
    const field = message.slice(0, message.indexOf(':'))
    const isOfBody = !query.includes(field) && !message.includes('not a known parameter')
    const isMissing = message.includes('is required')
    const wrong = message.includes('whole number') ? 'x' : 5
    const body = JSON.stringify({ ...example, [field]: isMissing ? undefined : wrong })
    return send(operation, await keyOf(operation), {
      ids,
      ...(isOfBody || isMissing ? { body } : { query: `?${field}=x` }),
    })
  }

  /** The answer to a request that is repeated until it is a conflict. */
  async function sendUntilConflict(operation: Operation, most = 7): Promise<Answer> {
    const { engine } = operation
    // There is no bot in the live environment.
    const answer = await send(operation, `Bearer ${await acme.keyOf(engine)}`, { ids })
    return answer.status === 409 || most === 1 ? answer : sendUntilConflict(operation, most - 1)
  }

  /** Needs a nonce. */
  const BY_NONCE = /login\/status/
  /** Conflicts that take too many objects, a lost key, an interrupted import, or the last admin or owner. */
  const RARE =
    /^PATCH|installation\/.*\{|\/(jobs|delayed|monitors|endpoints|webhooks|channels|test|plan|apply)$/

  test.each<[number, (operation: Operation) => Promise<Answer>, except?: RegExp]>([
    [400, sendWrong],
    [401, (operation) => send(operation, undefined)],
    [402, async (operation) => send(operation, await keyOf(operation, suspended)), /\{|auth\//],
    [
      403,
      async (operation) => {
        const { key } = await acme.newKey(operation.engine, undefined, ['reports:read'])
        return send(operation, `Bearer ${key}`)
      },
    ],
    [404, async (operation) => send(operation, await keyOf(operation)), BY_NONCE],
    [
      413,
      async (operation) =>
        send(operation, await keyOf(operation), { body: ' '.repeat((1 << 20) + 1) }),
    ],
    [
      415,
      async (operation) =>
        send(operation, await keyOf(operation), {
          body: '{}',
          headers: { 'content-type': 'text/plain' },
        }),
    ],
  ])('%d', async (status, ask, except = /^$/) => {
    for (const operation of operations)
      if (operation.statuses.includes(status) && !except.test(operation.name))
        expectShown(operation, await ask(operation), status)
  })

  test('409', async () => {
    const endpoint = `/v1/relay/endpoints/${ids['/v1/relay/endpoints/{endpoint_id}']}`
    const webhook = `/v1/gate/settings/webhooks/${ids['/v1/gate/settings/webhooks/{webhook_id}']}`
    await app.client(await acme.keyOf('relay')).patch(endpoint, { active: false })
    await app.client(await acme.keyOf('gate')).patch(webhook, { active: false })
    for (const operation of operations)
      if (operation.statuses.includes(409) && !RARE.test(operation.name))
        expectShown(operation, await sendUntilConflict(operation), 409)
  })
  test.each([
    ['POST /v1/clockwork/jobs', 409, JOBS_PER_TENANT],
    ['POST /v1/clockwork/delayed', 409, JOBS_PER_TENANT],
    ['POST /v1/relay/endpoints', 409, ENDPOINTS_PER_STREAM],
    ['POST /v1/notifications/channels', 409, MAX_CHANNELS],
    ['GET /v1/relay/endpoints', 429, testConfig().limits.requestsPerMinute],
  ])('%s %d, with the limit', (name, status, limit) => {
    const operation = operations.find((each) => each.name === name)
    expect(JSON.stringify(operation?.errors[status])).toContain(` ${limit} `)
  })
})
