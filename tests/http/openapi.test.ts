import { expect, test } from 'bun:test'
import { bootTestApp } from '../support/app.ts'

test('the document has every route of the API, with its answers', async () => {
  await using app = await bootTestApp()
  const { status, body } = await app.raw('/openapi.json')

  expect(status).toBe(200)
  expect(body.openapi).toBe('3.1.0')
  const documented = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = app.app.routes
    .filter(({ path }) => /^\/(v1|healthz|readyz|metrics)/.test(path))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  expect(served.length).toBeGreaterThan(14)
  for (const route of served) expect(documented).toContain(route)

  const create = body.paths['/v1/clockwork/jobs'].post
  expect(Object.keys(create.responses)).toEqual([
    '201',
    '400',
    '401',
    '402',
    '403',
    '409',
    '413',
    '415',
    '429',
    '503',
  ])
  expect(create.requestBody.content['application/json'].schema.required).toEqual([
    'name',
    'schedule',
    'url',
  ])
  expect(create.security).toEqual([{ apiKey: ['clockwork'] }])
})

test('every route of an engine says what it does and what it answers', async () => {
  await using app = await bootTestApp()
  const { body } = await app.raw('/openapi.json')

  for (const [path, operations] of Object.entries(body.paths))
    for (const [method, operation] of Object.entries(operations as object)) {
      if (!path.startsWith('/v1')) continue
      expect(operation.summary, `${method} ${path}`).toBeString()
      expect(operation.tags, `${method} ${path}`).not.toBeEmpty()
      expect(Object.keys(operation.responses), `${method} ${path}`).toContain('401')
    }
})

test('the reference page shows each operation, allows no script and nothing foreign', async () => {
  await using app = await bootTestApp()
  const { status, body, headers } = await app.raw('/reference')

  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toContain("script-src 'self'")
  for (const text of [
    'Create a cron job',
    'Cancel a delayed job',
    'Preview a schedule',
    '/v1/clockwork/jobs/{job_id}',
  ])
    expect(body).toContain(text)
  expect(body).not.toMatch(/<script|style=|https?:\/\/(?!127\.0\.0\.1|example\.com)/)
})

test('assets are served with their type, and nothing else is', async () => {
  await using app = await bootTestApp()

  expect((await app.raw('/assets/gatehouse.css')).headers.get('content-type')).toStartWith(
    'text/css',
  )
  expect((await app.raw('/assets/icon.svg')).headers.get('content-type')).toBe('image/svg+xml')
  for (const name of ['nothing.css', 'constructor', '__proto__', '..%2Fgatehouse.css'])
    expect((await app.raw(`/assets/${name}`)).status, name).toBe(404)
})
