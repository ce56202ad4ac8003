import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SETTINGS } from '../fixture.ts'
import { besides, bootWebhooks, type Fixture, refusal } from '../webhooks/webhook-fixture.ts'

const RETURN_URLS = `${SETTINGS}/return-urls`

const list = (...urls: unknown[]) => ({ return_urls: urls })
const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => `https://app.example.com/${n}`)
/** A good one of exactly so many characters. */
const ofLength = (length: number) => `https://app.example.com/`.padEnd(length, 'x')

describe('the return URLs', () => {
  test('are none as they come', async () => {
    await using fixture = await bootWebhooks()
    expect(await fixture.read(RETURN_URLS)).toEqual(list())
  })

  test('are replaced as a whole, spelled and ordered as they were given', async () => {
    await using fixture = await bootWebhooks()
    const first = ['https://b.example.com/Path', 'http://localhost:3000/', 'HTTPS://A.example.com']
    const second = ['https://c.example.com/']

    expect(await fixture.api.put(RETURN_URLS, list(...first))).toMatchObject({
      status: 200,
      body: list(...first),
    })
    expect(await fixture.read(RETURN_URLS)).toEqual(list(...first))
    expect((await fixture.api.put(RETURN_URLS, list(...second))).body).toEqual(list(...second))
    expect((await fixture.api.put(RETURN_URLS, list())).body).toEqual(list())
    expect(await fixture.read(RETURN_URLS)).toEqual(list())
  })

  test('keep one of several that are the same', async () => {
    await using fixture = await bootWebhooks()
    const [a, b] = ['https://a.example.com/', 'https://b.example.com/']
    expect((await fixture.api.put(RETURN_URLS, list(a, b, a, b, a))).body).toEqual(list(a, b))
  })

  test('may be 100, and each of 500 characters', async () => {
    await using fixture = await bootWebhooks()
    for (const urls of [numbered(100), [ofLength(500)]])
      expect((await fixture.api.put(RETURN_URLS, list(...urls))).body).toEqual(list(...urls))
  })

  test.each([
    'https://app.example.com',
    'https://app.example.com/',
    'https://app.example.com/welcome/back',
    'https://app.example.com:8443/x',
    'http://localhost:3000/callback',
    'http://127.0.0.1:5173/',
    'http://[::1]:3000/',
    'https://bücher.example/größe',
    'https://app.example.com/a@b',
    'https://app.example.com/%3Fa',
  ])('may be %s', async (url) => {
    await using fixture = await bootWebhooks()
    expect(await fixture.api.put(RETURN_URLS, list(url))).toMatchObject({
      status: 200,
      body: list(url),
    })
    expect(await fixture.read(RETURN_URLS)).toEqual(list(url))
  })

  test('are of one tenant, with either key, in every process at once', async () => {
    await using fixture = await bootWebhooks()
    const other = await fixture.party()
    const test = fixture.speak((await fixture.acme.key('gate', 'test')).key)
    await using next = await besides(fixture, fixture.key)
    expect((await next.get(RETURN_URLS)).body).toEqual(list())

    await test.api.put(RETURN_URLS, list(...numbered(2)))

    expect(await fixture.read(RETURN_URLS)).toEqual(list(...numbered(2)))
    expect((await next.get(RETURN_URLS)).body).toEqual(list(...numbered(2)))
    expect(await other.read(RETURN_URLS)).toEqual(list())
    await next.put(RETURN_URLS, list())
    expect(await fixture.read(RETURN_URLS)).toEqual(list())
  })
})

describe('return URLs are refused, with those they were to replace kept', () => {
  const KEPT = ['https://kept.example.com/']
  const GOOD = 'https://good.example.com/'
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await bootWebhooks()
    await fixture.api.put(RETURN_URLS, list(...KEPT))
  })
  afterAll(() => fixture.end())

  const expectRefused = async (body: unknown, ...words: string[]) => {
    expect(await fixture.api.put(RETURN_URLS, body)).toMatchObject(refusal(400, ...words))
    expect(await fixture.read(RETURN_URLS)).toEqual(list(...KEPT))
  }

  const SCHEME = 'an http or https URL'
  const BLANKS = 'must not contain spaces, control characters or backslashes'
  const QUERY = 'must not contain a query or fragment'
  const USER = 'must not contain a user or password'

  test.each<[unknown, string]>([
    ['', SCHEME],
    ['app.example.com', SCHEME],
    ['/welcome', SCHEME],
    ['//app.example.com/', SCHEME],
    ['ftp://app.example.com/', SCHEME],
    ['javascript:alert(1)', SCHEME],
    ['javascript://app.example.com/%0aalert(1)', SCHEME],
    ['data:text/html,x', SCHEME],
    ['file:///etc/passwd', SCHEME],
    ['myapp://callback', SCHEME],
    ['https:app.example.com', SCHEME],
    ['https:/app.example.com', SCHEME],
    ['https:\\\\app.example.com', SCHEME],
    ['https://', SCHEME],
    ['https://[::1', SCHEME],
    ['https://app.example.com:99999/', SCHEME],
    ['https://*.example.com/\u0000', BLANKS],
    [' https://app.example.com/', SCHEME],
    ['https://app.example.com/ ', BLANKS],
    ['https://app.example.com/a b', BLANKS],
    ['https://app.exa\tmple.com/', BLANKS],
    ['https://app.example.com/\n', BLANKS],
    ['https://app.example.com/\u007f', BLANKS],
    ['https://app.example.com\\.evil.example/', BLANKS],
    ['https://app.example.com/\\evil', BLANKS],
    ['https://user@app.example.com/', USER],
    ['https://user:secret@app.example.com/', USER],
    ['https://:secret@app.example.com/', USER],
    ['https://app.example.com/?a=b', QUERY],
    ['https://app.example.com/?', QUERY],
    ['https://app.example.com?', QUERY],
    ['https://app.example.com/#top', QUERY],
    ['https://app.example.com/#', QUERY],
    [null, SCHEME],
    [5, SCHEME],
    [['https://app.example.com/'], SCHEME],
    [{ url: 'https://app.example.com/' }, SCHEME],
  ])('%j behind a good one', (url, words) =>
    expectRefused(list(GOOD, url), 'return_urls.1: ', words),
  )

  test('one of 501 characters', () =>
    expectRefused(list(GOOD, ofLength(501)), 'return_urls.1: ', 'must have at most 500 characters'))

  test('101 of them', () => expectRefused(list(...numbered(101)), 'return_urls: must be', '100'))

  test.each<[unknown, string]>([
    [{}, 'return_urls: is required'],
    [{ return_urls: null }, 'return_urls: must be'],
    [{ return_urls: GOOD }, 'return_urls: must be'],
    [{ return_urls: { 0: GOOD } }, 'return_urls: must be'],
    [[GOOD], 'body: must be a JSON object'],
    [null, 'body: must be a JSON object'],
    [undefined, 'body: must be a JSON object'],
    [GOOD, 'body: must be a JSON object'],
  ])('as %j', (body, words) => expectRefused(body, words))
})
