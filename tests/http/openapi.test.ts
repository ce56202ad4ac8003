import { expect, test } from 'bun:test'
import { useApp } from '../support/app.ts'

const app = await useApp()
const { status, body: document } = await app.raw('/openapi.json')

test('The document has every route of the API, with its answers', () => {
  expect([status, document.openapi]).toEqual([200, '3.1.0'])
  const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = app.app.routes
    .filter(({ path }) => /^\/(v1|healthz|readyz|metrics)/.test(path))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  expect(served.length).toBeGreaterThan(14)
  for (const route of served) expect(documented).toContain(route)

  const { responses, requestBody, security } = document.paths['/v1/clockwork/jobs'].post
  expect(Object.keys(responses).join()).toBe('201,400,401,402,403,409,413,415,429,503')
  const { required } = requestBody.content['application/json'].schema
  expect(required).toEqual(['name', 'schedule', 'url'])
  expect(security).toEqual([{ apiKey: ['clockwork'] }])
})

test('Every route of an engine says what it does and what it answers', () => {
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries<typeof document>(operations as object)) {
      if (!path.startsWith('/v1')) continue
      expect(operation.summary, `${method} ${path}`).toBeString()
      expect(operation.tags, `${method} ${path}`).not.toBeEmpty()
      expect(Object.keys(operation.responses), `${method} ${path}`).toContain('401')
    }
})

test('The reference page shows each operation, allows no script and nothing foreign', async () => {
  const { status, body, headers } = await app.raw('/reference')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toContain("script-src 'self'")
  for (const text of ['Create a cron job', 'Preview a schedule', '/v1/clockwork/jobs/{job_id}'])
    expect(body).toContain(text)
  expect(body).not.toMatch(/<script|style=|https?:\/\/(?!127\.0\.0\.1|example\.com)/)
})

test('Assets are served with their type, and nothing else is', async () => {
  const typeOf = async (name: string) =>
    (await app.raw(`/assets/${name}`)).headers.get('content-type')
  expect(await typeOf('gatehouse.css')).toStartWith('text/css')
  expect(await typeOf('icon.svg')).toBe('image/svg+xml')
  expect(await typeOf('inter.woff2')).toBe('font/woff2')
  for (const name of ['nothing.css', 'constructor', '__proto__', '..%2Fgatehouse.css'])
    expect((await app.raw(`/assets/${name}`)).status, name).toBe(404)
})
