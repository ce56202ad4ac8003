import { expect, test } from 'bun:test'
import { inspect } from 'node:util'
import { createSealing, SealError } from '../../../src/platform/sealing/index.ts'
import { masterKeyOf } from '../../../src/platform/sealing/key-file.ts'
import { ringOf } from '../../../src/platform/sealing/key-ring.ts'

const KEY = masterKeyOf(new Uint8Array(32).fill(7))
const OTHER_KEY = masterKeyOf(new Uint8Array(32).fill(8))
const PURPOSE = 'webhook secret'
const PLACE = 'endpoints/ep_1/secrets'
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

const { seal, open } = createSealing(ringOf(KEY))
const other = createSealing(ringOf(OTHER_KEY))
const SEALED = seal(PURPOSE, PLACE, SECRET)

/** The message of a refusal, which never shows the secret. */
function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(SealError)
    expect(inspect(error, { depth: 9 })).not.toContain(SECRET)
    return (error as SealError).message
  }
  throw new Error('was not refused')
}

test('A sealed text names version and key, is opened as it was, and is different each time', () => {
  for (const text of ['', 'a', SECRET, 'ä\u0000\n"€𝄞\uFFFD\uFEFF', 'x'.repeat(100_000)])
    expect(open(PURPOSE, PLACE, seal(PURPOSE, PLACE, text))).toBe(text)
  expect(SEALED).toMatch(/^s1\.[0-9a-f]{12}\.[A-Za-z0-9_-]+$/)
  expect(SEALED).toStartWith(`s1.${KEY.id}.`)
  const bytes = Buffer.from(SEALED.split('.')[2] ?? '', 'base64url').toString('latin1')
  expect(bytes).not.toContain(SECRET.slice(0, 6))
  const texts = Array.from({ length: 50 }, () => seal(PURPOSE, PLACE, SECRET))
  expect(new Set(texts.map((text) => text.slice(16, 32))).size).toBe(50)
  // Half a character would not come back.
  expect(refusal(() => seal(PURPOSE, PLACE, `${SECRET}\uD834`))).toContain(PLACE)
})

test('A sealed text of this format is opened by every later version', () => {
  expect(KEY.id).toBe('c40e33598fbb')
  const body =
    'AAECAwQFBgcICQoLYsFcJ5hf0VcKSyOCKCrPmb1cvdS64O15jmrwmSSkPrFJAxn9XTrjVcPXDiVYnYA5E3xSzvvo'
  expect(open(PURPOSE, PLACE, `s1.c40e33598fbb.${body}`)).toBe(SECRET)
})

test('Opening is refused at another place, which is named, and for another purpose', () => {
  for (const place of ['endpoints/ep_2/secrets', '', `${PLACE}/`])
    expect(refusal(() => open(PURPOSE, place, SEALED))).toStartWith(`${place} was modified`)
  for (const purpose of ['bot token', '']) refusal(() => open(purpose, PLACE, SEALED))
  // Where purpose and place only look the same together.
  const sealed = seal('a', 'b/c', SECRET)
  refusal(() => open('a/b', 'c', sealed))
  refusal(() => open('a","b', 'c', sealed))
})

test('Opening is refused with another master key, and the message names both', () => {
  const message = refusal(() => other.open(PURPOSE, PLACE, SEALED))
  for (const text of [KEY.id, OTHER_KEY.id, 'master.key']) expect(message).toContain(text)
  refusal(() => other.open(PURPOSE, PLACE, SEALED.replace(KEY.id, OTHER_KEY.id)))
})

test('Opening is refused after a change of a bit or a character anywhere', () => {
  const [version, id, body = ''] = SEALED.split('.')
  const bytes = Buffer.from(body, 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = bytes.with(at, (bytes[at] ?? 0) ^ (1 << (at & 7)))
    const text = [version, id, Buffer.from(changed).toString('base64url')].join('.')
    expect(refusal(() => open(PURPOSE, PLACE, text))).toContain('was modified')
  }
  for (let at = 0; at <= SEALED.length; at++) {
    const [before, after] = [SEALED.slice(0, at), SEALED.slice(at)]
    for (const it of ['', 'A', '.', '=', ' ', '\n', 'é'])
      for (const text of [before + it + after, before + it + after.slice(1)])
        if (text !== SEALED) refusal(() => open(PURPOSE, PLACE, text))
  }
})

test.each([
  ['nothing', ''],
  ['another version', SEALED.replace('s1', 's2')],
  ['a body without nonce and tag', `s1.${KEY.id}.${'A'.repeat(36)}`],
  ['padding', `${SEALED}=`],
])('Opening is refused for text that was not sealed here: %s', (_, text) => {
  const message = `${PLACE} does not contain a sealed secret`
  expect(refusal(() => open(PURPOSE, PLACE, text))).toBe(message)
})
