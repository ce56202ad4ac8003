import { expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020'
import { useApp } from '../support/app.ts'
import { mismatches } from '../support/described.ts'

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
  expect(Object.keys(responses).join()).toBe('200,201,400,401,402,403,409,413,415,429,503')
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

/** Every body of a request or successful response: where it is, its schema and its example. */
function* bodies() {
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { requestBody, responses = {} }] of Object.entries<typeof document>(
      operations as object,
    ))
      for (const [name, body] of Object.entries<typeof document>({ requestBody, ...responses })) {
        const { schema, example } = body?.content?.['application/json'] ?? {}
        if (schema && /^(requestBody|2)/.test(name))
          yield { where: `${method} ${path} ${name}`, schema, example }
      }
}

/** Without a keyword of OpenAPI 3.0, beside which ajv expects the types of its time. */
const withoutNullable = (schema: unknown) =>
  JSON.parse(JSON.stringify(schema), (name, value) => (name === 'nullable' ? undefined : value))

test('Every body has an example, which is valid and has only members of its schema', () => {
  const ajv = new Ajv({ strict: false })
  const wrong = [...bodies()].flatMap(({ where, schema, example }) => [
    ...(ajv.validate(withoutNullable(schema), example) ? [] : [`${where} ${ajv.errorsText()}`]),
    ...(example === undefined ? [`${where} has none`] : mismatches(schema, example, where)),
  ])
  expect(wrong).toEqual([])
})

const ENGINES = ['gate', 'clockwork', 'passepartout', 'relay', 'operations']

test('The reference shows each operation once, on the page of its engine, with only its own scripts and styles', async () => {
  const pages = await Promise.all(
    ['', ...ENGINES.map((name) => `/${name}`)].map((page) => app.raw(`/reference${page}`)),
  )
  for (const { status, body, headers } of pages) {
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(body).not.toMatch(/style=|<script(?! src="\/assets\/)/)
    expect(body).not.toMatch(/(?:src|href)="https?:/)
  }
  const anchors = pages.slice(1).flatMap(({ body }) => [...body.matchAll(/<article id="(.*?)"/g)])
  const documented = Object.values(document.paths).flatMap((operations) =>
    Object.keys(operations as object),
  )
  expect([anchors.length, new Set(anchors.map(([, id]) => id)).size]).toEqual(
    Array(2).fill(documented.length),
  )
  const [first, , jobs] = pages
  // Links to operations from before each engine had a page.
  const anchor = 'post-v1-clockwork-jobs'
  expect(first?.body).toContain(`<li id="${anchor}"`)
  expect(first?.body).toContain(`href="/reference/clockwork#${anchor}"`)
  for (const text of ['Create a cron job', 'Preview a schedule', '/v1/clockwork/jobs/{job_id}'])
    expect(jobs?.body).toContain(text)
  expect((await app.raw('/reference/nothing')).status).toBe(404)
})

test('Search finds operations by words of their title, address, description and scope', async () => {
  const found = async (words: string) => {
    const { body } = await app.raw(`/reference?q=${encodeURIComponent(words)}`)
    return [...body.matchAll(/<li><a href="(\/reference\/\w+#.*?)"/g)].map(([, href]) => href)
  }
  expect(await found('ROTATE relay')).toEqual([
    '/reference/relay#post-v1-relay-endpoints-endpoint-id-rotate-secret',
  ])
  expect(await found('relay:send')).toEqual(['/reference/relay#post-v1-relay-messages'])
  expect(await found('<b>nothing')).toEqual([])
  expect((await app.raw('/reference?q=%3Cb%3Enothing')).body).not.toContain('<b>nothing')
})

test('Assets are served with their type, and nothing else is', async () => {
  const typeOf = async (name: string) =>
    (await app.raw(`/assets/${name}`)).headers.get('content-type')
  expect(await typeOf('gatehouse.css')).toStartWith('text/css')
  expect(await typeOf('reference.js')).toStartWith('text/javascript')
  expect(await typeOf('icon.svg')).toBe('image/svg+xml')
  expect(await typeOf('inter.woff2')).toBe('font/woff2')
  for (const name of ['nothing.css', 'constructor', '__proto__', '..%2Fgatehouse.css'])
    expect((await app.raw(`/assets/${name}`)).status, name).toBe(404)
})
