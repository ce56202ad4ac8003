import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020'
import { useApp } from '../support/app.ts'
import { mismatches, resolved } from '../support/described.ts'

const app = await useApp()
const { status, body: document } = await app.raw('/openapi.json')

test('The document has every route of the API, with its answers', async () => {
  expect([status, document.openapi]).toEqual([200, '3.1.0'])
  const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = (await app.app.routes())
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

/** Every body of a request or response: where it is, its schema and its example. */
function* bodies() {
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { requestBody, responses = {} }] of Object.entries<typeof document>(
      operations as object,
    ))
      for (const [name, body] of Object.entries<typeof document>({ requestBody, ...responses })) {
        const { schema: stated, example } = body?.content?.['application/json'] ?? {}
        const schema = resolved(document, stated)
        if (schema) yield { where: `${method} ${path} ${name}`, path, schema, example }
      }
}

/** Without a keyword of OpenAPI 3.0, beside which ajv expects the types of its time. */
const withoutNullable = (schema: unknown) =>
  JSON.parse(JSON.stringify(schema), (name, value) => (name === 'nullable' ? undefined : value))

test('Every body has an example, which is valid and has only members of its schema', () => {
  const ajv = new Ajv({ strict: false })
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
  function problemsOf(schema: object, example: unknown) {
    const text = JSON.stringify(schema)
    const validate = compiled.get(text) ?? ajv.compile(withoutNullable(schema))
    compiled.set(text, validate)
    return validate(example) ? [] : [ajv.errorsText(validate.errors)]
  }
  const wrong = [...bodies()].flatMap(({ where, path, schema, example }) =>
    [
      ...problemsOf(schema, example),
      ...(example === undefined
        ? ['none']
        : mismatches(schema, example, `${path.split('/').at(-1)}`)),
    ].map((problem) => `${where}: ${problem}`),
  )
  expect(wrong).toEqual([])
})

const ENGINES = [
  'gate',
  'clockwork',
  'passepartout',
  'relay',
  'notifications',
  'manifest',
  'installation',
  'operations',
]

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
  // An operation that sessions have, too, is noted where keys have it.
  const anchor = /<(?:article|p class="hint") id="(.*?)"/g
  const anchors = pages.slice(1).flatMap(({ body }) => [...body.matchAll(anchor)])
  const documented = Object.values(document.paths).flatMap((operations) =>
    Object.keys(operations as object),
  )
  expect([anchors.length, new Set(anchors.map(([, id]) => id)).size]).toEqual(
    Array(2).fill(documented.length),
  )
  const [first, , jobs] = pages
  expect(jobs?.body).not.toMatch(/<article id="[a-z]+-dashboard/)
  expect(jobs?.body).toContain('Also at <code>/dashboard/clockwork/jobs</code>')
  // Links to operations from before each engine had a page.
  const createJob = 'post-v1-clockwork-jobs'
  expect(first?.body).toContain(`<li id="${createJob}"`)
  expect(first?.body).toContain(`href="/reference/clockwork#${createJob}"`)
  for (const text of ['Create a cron job', 'Preview a schedule', '/v1/clockwork/jobs/{job_id}'])
    expect(jobs?.body).toContain(text)
  expect((await app.raw('/reference/nothing')).status).toBe(404)
})

describe('Search finds operations by', () => {
  const found = async (words: string) => {
    const { body } = await app.raw(`/reference?q=${encodeURIComponent(words)}`)
    return [...body.matchAll(/<li><a href="\/reference\/\w+#(.*?)"/g)].map(([, anchor]) => anchor)
  }

  test.each([
    ['path', '/v1/relay/deliveries/{delivery_id}', 'get-v1-relay-deliveries-delivery-id'],
    ['path for sessions', '/dashboard/clockwork/jobs/preview', 'post-v1-clockwork-jobs-preview'],
    ['method and path', 'PATCH clockwork', 'patch-v1-clockwork-jobs-job-id'],
    ['words of the title', 'cron create', 'post-v1-clockwork-jobs'],
    ['scope', 'relay:send', 'post-v1-relay-messages'],
    ['parameter', 'wait passepartout', 'get-v1-passepartout-login-status'],
    ['field of a body', 'hashed_password', 'post-v1-gate-identities'],
    ['field of a response', 'lateness_ms delayed', 'get-v1-clockwork-delayed-job-id-executions'],
    ['rule of an error', 'cron jobs; delete one first', 'post-v1-clockwork-jobs'],
    ['code of an error', 'bot_not_configured', 'post-v1-passepartout-login-start'],
  ])('%s', async (_, words, anchor) => expect((await found(words))[0]).toBe(anchor))

  test('nothing that is nowhere', async () => {
    expect(await found('<b>nothing')).toEqual([])
    const { body } = await app.raw('/reference?q=%3Cb%3Enothing')
    expect(body).toContain('<h1>No operations found</h1>')
    expect(body).not.toContain('<b>nothing')
  })
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
