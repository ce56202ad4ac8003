import { expect, test } from 'bun:test'
import { type ExampleRequest, LANGUAGES } from '../../../views/reference/snippets.ts'

const [curl, typescript, python] = LANGUAGES

const REQUEST: ExampleRequest = {
  method: 'POST',
  url: 'https://api.example.com/v1/things?a=1&b=2',
  headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'X-Session-Token': '$GATEHOUSE_SESSION' },
  body: { name: 'it\'s "quoted"\nand null', count: 2, isOn: true, isOff: false, none: null },
  isAnswered: true,
}

const AsyncFunction = (async () => {}).constructor as FunctionConstructor

/** Runs a snippet in TypeScript and returns the request that it sends. */
async function requestSent(snippet: string) {
  let sent: [string, RequestInit | undefined] | undefined
  const fetch = async (url: string, options?: RequestInit) => {
    sent = [url, options]
    return Response.json({})
  }
  const env = { GATEHOUSE_KEY: 'the-key', GATEHOUSE_SESSION: 'the-session' }
  const code = snippet.replace('import { env } from "node:process";', '')
  const run = new AsyncFunction('fetch', 'env', 'console', code)
  await run(fetch, env, { log() {} })
  return sent
}

test('The TypeScript example sends the request', async () => {
  const [url, options] = (await requestSent(typescript.write(REQUEST))) ?? []
  expect(url).toBe(REQUEST.url)
  expect(options).toEqual({
    method: 'POST',
    headers: {
      Authorization: 'Bearer the-key',
      'X-Session-Token': 'the-session',
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(REQUEST.body),
  })
  const plain = { method: 'GET', url: 'https://a.example', headers: {}, isAnswered: false }
  expect(await requestSent(typescript.write(plain))).toEqual(['https://a.example', undefined])
})

test('The curl example sends the same arguments in a shell', async () => {
  const { PATH } = process.env
  const env = { GATEHOUSE_KEY: 'the-key', GATEHOUSE_SESSION: 'the-session', PATH }
  const shell = `curl() { printf '%s\\0' "$@"; }; ${curl.write(REQUEST)}`
  const { stdout } = Bun.spawnSync(['sh', '-c', shell], { env })
  const [x, method, url, , key, , session, , type, , body] = stdout.toString().split('\0')
  expect([x, method, url, key, session, type]).toEqual([
    '-X',
    'POST',
    REQUEST.url,
    'Authorization: Bearer the-key',
    'X-Session-Token: the-session',
    'Content-Type: application/json',
  ])
  expect(JSON.parse(body ?? '')).toEqual(REQUEST.body)
})

test('The Python example has its words for true, false and null, and leaves strings alone', () => {
  const text = python.write(REQUEST)
  for (const part of ['"isOn": True', '"isOff": False', '"none": None', 'and null"'])
    expect(text).toContain(part)
  expect(text).toContain(`requests.post(\n    "${REQUEST.url}",\n`)
  expect(text).toContain(`headers={"Authorization": f"Bearer {os.environ['GATEHOUSE_KEY']}", `)
})
