import { describe, expect, test } from 'bun:test'
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

/** What opening says when it refuses; whatever it says, the secret is not in it. */
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

describe('what is sealed', () => {
  test.each([
    ['nothing', ''],
    ['one letter', 'a'],
    ['a secret', SECRET],
    ['every kind of character', 'ä\u0000\n"€𝄞\uFFFD\uFEFF'],
    ['a long text', 'x'.repeat(100_000)],
  ])('comes back as it was: %s', (_, text) => {
    expect(open(PURPOSE, PLACE, seal(PURPOSE, PLACE, text))).toBe(text)
  })

  test('is one printable text that begins with version and key id, and shows nothing of the secret', () => {
    const sealed = seal(PURPOSE, PLACE, SECRET)

    expect(sealed).toMatch(/^s1\.[0-9a-f]{12}\.[A-Za-z0-9_-]+$/)
    expect(sealed).toStartWith(`s1.${KEY.id}.`)
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain(
      SECRET.slice(0, 6),
    )
  })

  test('looks different each time', () => {
    const texts = Array.from({ length: 1000 }, () => seal(PURPOSE, PLACE, SECRET))

    expect(new Set(texts).size).toBe(1000)
    expect(new Set(texts.map((text) => text.slice(16, 32))).size).toBe(1000)
  })

  test('can be opened after a restart', () => {
    const sealed = seal(PURPOSE, PLACE, SECRET)

    const restarted = createSealing(ringOf(masterKeyOf(new Uint8Array(32).fill(7))))

    expect(restarted.open(PURPOSE, PLACE, sealed)).toBe(SECRET)
  })

  test('can be opened by every later version: the format is this one', () => {
    expect(KEY.id).toBe('c40e33598fbb')
    expect(
      open(
        PURPOSE,
        PLACE,
        's1.c40e33598fbb.AAECAwQFBgcICQoLYsFcJ5hf0VcKSyOCKCrPmb1cvdS64O15jmrwmSSkPrFJAxn9XTrjVcPXDiVYnYA5E3xSzvvo',
      ),
    ).toBe(SECRET)
  })

  test('has to be Unicode, since half a character would not come back', () => {
    expect(refusal(() => seal(PURPOSE, PLACE, `${SECRET}\uD834`))).toContain(PLACE)
  })
})

describe('opening is refused', () => {
  test('at another place, which is named', () => {
    const sealed = seal(PURPOSE, PLACE, SECRET)

    for (const boundTo of ['endpoints/ep_2/secrets', 'endpoints/ep_1/secret', '', `${PLACE}/`])
      expect(refusal(() => open(PURPOSE, boundTo, sealed))).toStartWith(
        `${boundTo} was modified, or copied`,
      )
  })

  test('for another purpose', () => {
    const sealed = seal(PURPOSE, PLACE, SECRET)

    for (const purpose of ['bot token', '', `${PURPOSE} `])
      refusal(() => open(purpose, PLACE, sealed))
  })

  test('where purpose and place only look the same when put together', () => {
    const sealed = seal('a', 'b/c', SECRET)

    for (const [purpose, boundTo] of [
      ['a/b', 'c'],
      ['ab', '/c'],
      ['a","b', 'c'],
      ['a\\', 'b/c'],
    ] as const)
      refusal(() => open(purpose, boundTo, sealed))
  })

  test('with another master key, and both are named', () => {
    const sealed = seal(PURPOSE, PLACE, SECRET)

    const message = refusal(() => createSealing(ringOf(OTHER_KEY)).open(PURPOSE, PLACE, sealed))

    expect(message).toContain(KEY.id)
    expect(message).toContain(OTHER_KEY.id)
    expect(message).toContain('master.key')
  })

  test('with another master key whose id somebody has written over the first', () => {
    const forged = seal(PURPOSE, PLACE, SECRET).replace(KEY.id, OTHER_KEY.id)

    refusal(() => createSealing(ringOf(OTHER_KEY)).open(PURPOSE, PLACE, forged))
  })

  test('after any bit of nonce, ciphertext or tag has changed', () => {
    const [version, id, body = ''] = seal(PURPOSE, PLACE, SECRET).split('.')
    const bytes = Buffer.from(body, 'base64url')

    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const text = [version, id, changed.toString('base64url')].join('.')
      expect(refusal(() => open(PURPOSE, PLACE, text))).toContain('was modified')
    }
  })

  test('after any character has been changed, left out or put in', () => {
    const sealed = seal(PURPOSE, PLACE, SECRET)

    for (let at = 0; at <= sealed.length; at++) {
      const [before, after] = [sealed.slice(0, at), sealed.slice(at)]
      for (const character of ['A', 'B', '0', '.', '=', '+', ' ', '\n', 'é']) {
        refusal(() => open(PURPOSE, PLACE, before + character + after))
        const changed = before + character + after.slice(1)
        if (changed !== sealed) refusal(() => open(PURPOSE, PLACE, changed))
      }
      if (after) refusal(() => open(PURPOSE, PLACE, before + after.slice(1)))
    }
  })

  test.each([
    ['nothing at all', ''],
    ['a secret in clear', SECRET],
    ['another version', seal(PURPOSE, PLACE, SECRET).replace('s1', 's2')],
    ['no body', `s1.${KEY.id}.`],
    ['a body without room for nonce and tag', `s1.${KEY.id}.${'A'.repeat(36)}`],
    ['a key id of another length', seal(PURPOSE, PLACE, SECRET).replace(KEY.id, 'abcd')],
    ['padding', `${seal(PURPOSE, PLACE, SECRET)}=`],
  ])('when the text was not made here: %s', (_, text) => {
    expect(refusal(() => open(PURPOSE, PLACE, text))).toBe(
      `${PLACE} does not contain a sealed secret`,
    )
  })
})
