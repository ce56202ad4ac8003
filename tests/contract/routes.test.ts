import { expect, test } from 'bun:test'
import { expectRefused, pathOf, populate, useContract } from './fixture.ts'
import { inOrder, type Operation } from './operations.ts'

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
  // They need a session, a flow, a token, or a nonce, which examples can't name.
  expect(refused).toEqual({
    'GET /v1/gate/auth/settings': 401,
    'GET /v1/passepartout/login/status': 400,
    'POST /v1/gate/auth/recovery/submit': 400,
    'POST /v1/gate/auth/settings/submit': 400,
    'POST /v1/gate/auth/verification/submit': 400,
    'POST /v1/gate/sessions/exchange': 404,
    'POST /v1/gate/tokens/introspect': 400,
    'POST /v1/gate/tokens/revoke': 400,
  })
})

test('A path that is none answers 404 in the shape of its engine', async () => {
  for (const prefix of ['/v1/gate', '/v1/clockwork', '/v1/passepartout', '/v1/relay', '/access/v1'])
    for (const path of [prefix, `${prefix}/`, `${prefix}/nothing`, `${prefix}/nothing/x`])
      for (const method of METHODS) {
        const answer = await app.raw(path, { method })
        expectRefused(`${method} ${path}`, answer, 404)
        const isCoded = /relay|passepartout|access/.test(prefix)
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
