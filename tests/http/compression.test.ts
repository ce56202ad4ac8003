import { afterAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { codingFor } from '../../src/http/content-coding.ts'
import { serve } from '../../src/http/serve.ts'
import { assetHref } from '../../views/assets.ts'
import { useApp } from '../support/app.ts'
import { newOperator } from '../support/operator.ts'

const app = await useApp()
const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
afterAll(() => listener.stop())
const acme = await app.tenant()
const { headers: session } = await (
  await newOperator(app, { roles: { [acme.id]: 'owner' } })
).signIn()

const CODINGS = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync } as const

/** The bytes on the wire. */
async function get(path: string, headers: Record<string, string>, method = 'GET') {
  const response = await fetch(listener.url + path, { method, headers, decompress: false })
  return {
    ...response,
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  }
}

const page = (coding: string, more = {}) =>
  get('/console', { ...session, accept: 'text/html', 'accept-encoding': coding, ...more })

test.each<[string | undefined, string]>([
  ['br', 'gzip, deflate, br, zstd'],
  ['zstd', 'gzip, zstd'],
  ['gzip', 'GZIP'],
  ['gzip', 'br;q=0.2, gzip;q=0.8'],
  ['br', '*'],
  ['gzip', 'br;q=0, zstd;q=0, *;q=0.1'],
  [undefined, 'gzip;q=0, identity'],
  [undefined, 'deflate, br;q=x'],
  [undefined, ''],
])('The coding is %s for a client that accepts "%s"', (coding, accepted) => {
  const headers = { 'accept-encoding': accepted }
  expect(codingFor(new Request('http://localhost', { headers }))).toBe(coding as never)
})

describe('A page', () => {
  test.each(Object.entries(CODINGS))('is compressed with %s', async (coding, decode) => {
    const plain = await page('identity')
    const { headers, bytes } = await page(coding)
    expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([
      coding,
      'accept-encoding',
    ])
    expect(headers.get('content-security-policy')).toBe(
      plain.headers.get('content-security-policy'),
    )
    expect(decode(bytes).toString()).toStartWith('<!doctype html>')
    expect(bytes.length * 3).toBeLessThan(plain.bytes.length)
    expect(plain.headers.get('vary')).toBe('accept-encoding')
  })

  test('has another size each time, so that its size tells nothing of its content', async () => {
    const sizes = await Promise.all(
      Array.from({ length: 12 }, async () => (await page('br')).bytes.length),
    )
    expect(new Set(sizes).size).toBeGreaterThan(3)
  })
})

test('Data is sent as it is, with secrets and without a comment', async () => {
  const headers = {
    authorization: `Bearer ${acme.secret}`,
    accept: 'text/html',
    'accept-encoding': 'br',
  }
  const answer = await get('/v1/clockwork/jobs', headers)
  expect([answer.headers.get('content-encoding'), answer.bytes.toString()]).toEqual([null, '[]'])
})

describe('An asset', () => {
  const path = assetHref('', 'console.css')

  test('is kept for a year by the address on pages, and checked by any other', async () => {
    const cached = async (at: string) => (await get(at, {})).headers.get('cache-control')
    expect(await cached(path)).toBe('public, max-age=31536000, immutable')
    for (const other of ['/assets/console.css', '/assets/console.css?v=older'])
      expect(await cached(other)).toBe('no-cache')
    const { bytes } = await page('identity')
    expect(bytes.toString()).toContain(`href="${path}"`)
  })

  test('loads the font files at addresses that are kept, and sends them as they are', async () => {
    const { bytes } = await get(assetHref('', 'fonts.css'), {})
    const files = [...bytes.toString().matchAll(/url\("(.+?)"\)/g)].map(([, file]) => file)
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) {
      const { headers, bytes } = await get(`/assets/${file}`, { 'accept-encoding': 'br' })
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect([headers.get('content-encoding'), bytes.toString('latin1', 0, 4)]).toEqual([
        null,
        'wOF2',
      ])
    }
  })

  test('is compressed, and not sent again to a client that has it', async () => {
    const accepted = { 'accept-encoding': 'br' }
    const { headers, bytes } = await get(path, accepted)
    expect(headers.get('content-encoding')).toBe('br')
    expect(brotliDecompressSync(bytes).toString()).toContain(':root')
    const etag = headers.get('etag') as string
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await get(path, { ...accepted, 'if-none-match': known })
      expect([again.status, again.bytes.length, again.headers.get('etag')]).toEqual([304, 0, etag])
    }
    const other = await get(path, { 'if-none-match': etag })
    expect([other.status, other.headers.get('etag') === etag]).toEqual([200, false])
  })
})

test('A static page is negotiated once', async () => {
  for (const [coding, encoded] of [
    ['identity', null],
    ['br', 'br'],
  ] as const) {
    const { headers } = await get('/reference', { accept: 'text/html', 'accept-encoding': coding })
    expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([
      encoded,
      'accept-encoding',
    ])
  }
})

test('The document of the API is compressed and checked like an asset', async () => {
  const { status, headers, bytes } = await get('/openapi.json', { 'accept-encoding': 'gzip' })
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
  expect(JSON.parse(gunzipSync(bytes).toString()).openapi).toStartWith('3.')
  const head = await get('/openapi.json', { 'accept-encoding': 'gzip' }, 'HEAD')
  expect(Number(head.headers.get('content-length'))).toBe(bytes.length)
})

test('A list has a tag, which the document of the API has, and is not sent again to a client that has it', async () => {
  const of = (etag?: string) => ({
    headers: {
      authorization: `Bearer ${acme.secret}`,
      ...(etag !== undefined && { 'if-none-match': etag }),
    },
  })
  const first = await app.raw('/v1/clockwork/jobs', of())
  const etag = first.headers.get('etag') as string
  const again = await app.raw('/v1/clockwork/jobs', of(etag))
  expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag])
  expect(again.headers.get('ratelimit')).toStartWith('"burst"')
  const job = { name: 'n', schedule: '* * * * *', url: 'http://127.0.0.1:9' }
  const { body } = await acme.api.post('/v1/clockwork/jobs', job)
  const changed = await app.raw('/v1/clockwork/jobs', of(etag))
  expect([changed.status, changed.body.length]).toEqual([200, 1])
  expect((await acme.api.get(`/v1/clockwork/jobs/${body.id}`)).headers.get('etag')).toBeNull()

  const { paths } = (await app.raw('/openapi.json')).body
  const isTagged = (path: string) => {
    const { responses, parameters } = paths[path].get
    const takesTag = parameters.some(({ name }: { name: string }) => name === 'If-None-Match')
    return [Object.hasOwn(responses, 304), responses[200].headers?.ETag !== undefined, takesTag]
  }
  for (const list of ['/v1/clockwork/jobs', '/v1/relay/messages', '/v1/gate/identities'])
    expect([list, isTagged(list)]).toEqual([list, [true, true, true]])
  const job_id = '/v1/clockwork/jobs/{job_id}'
  expect([job_id, isTagged(job_id)]).toEqual([job_id, [false, false, false]])
})
