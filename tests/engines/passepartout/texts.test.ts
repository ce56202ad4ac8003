import { describe, expect, test } from 'bun:test'
import { LANGUAGES } from '../../../src/engines/passepartout/language.ts'
import {
  type Asking,
  createTexts,
  type Texts,
} from '../../../src/engines/passepartout/texts/index.ts'

const AT = Date.UTC(2026, 10, 24, 14, 2, 40)
const UNTIL = AT + 10 * 60_000

const ASKING: Asking = {
  app: 'Acme & Söhne',
  label: 'Kitchen display',
  device: { browser: 'Chrome', system: 'Windows' },
  address: '203.0.113.7',
  askedAt: AT,
  match: false,
}
const UNKNOWN = { label: null, device: null, address: null }

const OUTCOMES = ['approved', 'denied', 'mismatched', 'expired'] as const
const NOTICES = [...OUTCOMES, 'over', 'not_yours'] as const
const WAITS = ['cooling_down', 'too_many'] as const
const LINKS = ['unknown_link', 'expired_link', 'taken_link', 'answered_link'] as const
const REPLIES = ['hello', ...LINKS, ...WAITS] as const

/** All messages of a bot. */
const messagesOf = (texts: Texts, app = 'Acme') => [
  ...[{}, { match: true }, UNKNOWN].map((asking) => texts.prompt({ ...ASKING, ...asking, app })),
  ...OUTCOMES.map((kind) => texts.outcome(kind, { app, at: AT })),
  ...REPLIES.map((kind) => texts.reply(kind, { app, until: UNTIL })),
  ...WAITS.map((kind) => texts.reply(kind, { app })),
]

const allOf = (texts: Texts) =>
  [...messagesOf(texts), texts.approve, texts.deny].concat(NOTICES.map(texts.notice))

const english = createTexts('en')
const prompt = (asking: Partial<Asking>) => english.prompt({ ...ASKING, ...asking })

describe.each(LANGUAGES)('In %s', (language) => {
  const texts = createTexts(language)

  test('texts have no gaps, fit, and differ from each other and the other language', () => {
    const all = allOf(texts)
    for (const text of all) {
      expect(text).not.toMatch(/undefined|null|NaN|Invalid|\[object|[{}<>]/)
      expect(text).not.toMatch(/ {2}| [.,:;?!\n]|\.\.|\n{3}|^\s|\s$|^$/)
    }
    expect(new Set(all).size).toBe(all.length)
    for (const kind of NOTICES) expect(texts.notice(kind).length).toBeLessThanOrEqual(100)
    const others = LANGUAGES.filter((each) => each !== language).flatMap((each) =>
      allOf(createTexts(each)),
    )
    expect(all.filter((text) => others.includes(text))).toEqual([])
  })

  test('no line begins with a foreign name, and none makes a message long', () => {
    for (const text of messagesOf(texts, 'שלום')) expect(text).not.toMatch(/^שלום/m)
    for (const piece of ['x', '@a', '界', '👩🏽‍❤️‍💋‍👨🏿', 'e\u0301\u0302\u0303\u0304', '.x']) {
      const name = piece.repeat(5000)
      const hostile = { ...ASKING, app: name, label: name, address: name, match: true }
      for (const text of [...messagesOf(texts, name), texts.prompt(hostile)])
        expect(text.length).toBeLessThanOrEqual(1000)
    }
  })

  test('a prompt names its buttons, which have equal weight, and in its warning no app', () => {
    const asking = { ...ASKING, app: 'XYZZY' }
    for (const button of [texts.approve, texts.deny]) {
      expect(texts.prompt(asking)).toContain(button)
      expect(button).toMatch(/^\p{Lu}\p{Ll}+$/u)
    }
    expect(Math.abs(texts.approve.length - texts.deny.length)).toBeLessThanOrEqual(3)
    const withNumbers = texts.prompt({ ...asking, match: true })
    expect(withNumbers).toContain(texts.deny)
    expect(withNumbers).not.toContain(texts.approve)
    const blocks = texts.prompt(asking).split('\n\n')
    expect(blocks.map((block) => block.includes('XYZZY'))).toEqual([true, false, false, false])
  })

  test('times are those of the minute, and of the next one for a wait', () => {
    for (const kind of ['approved', 'denied'] as const)
      expect(texts.outcome(kind, { app: 'Acme', at: AT })).toContain('14:02 UTC')
    for (const [until, shown] of [
      [UNTIL, '14:13 UTC'],
      [Date.UTC(2026, 10, 24, 23, 59, 0), '23:59 UTC'],
      [Date.UTC(2026, 10, 24, 23, 59, 1), '00:00 UTC'],
    ] as const)
      for (const kind of WAITS) expect(texts.reply(kind, { app: 'Acme', until })).toContain(shown)
  })
})

test('A prompt says who asks, from where as far as is known, and what to beware of', () => {
  const lines = prompt({ address: '2001:db8::1' }).replaceAll('\u2060', '').split('\n')
  const facts = ['Where: Kitchen display', 'Device: Chrome on Windows', 'IP address: 2001:db8::1']
  expect(lines.slice(0, 6)).toEqual(['Sign in to Acme & Söhne?', '', ...facts, 'Time: 14:02 UTC'])
  expect(lines[7]).toStartWith('Continue only if you just started this sign-in yourself.')
  for (const label of [null, ' \u200b\u202e\n'])
    expect(prompt({ ...UNKNOWN, label }).split('\n\n')[1]).toBe('Time: 14:02 UTC')
  for (const [browser, system, en, de] of [
    ['Safari', 'iPhone', 'Safari on iPhone', 'Safari auf iPhone'],
    ['Safari', null, 'Device: Safari\n', 'Gerät: Safari\n'],
    [null, 'Linux', 'Device: Linux\n', 'Gerät: Linux\n'],
  ] as const) {
    const device = { browser, system } as Asking['device']
    expect(prompt({ device })).toContain(en)
    expect(createTexts('de').prompt({ ...ASKING, device })).toContain(de)
  }
})

const shown = (app: string) => /^Sign in to (.*)\?$/.exec(prompt({ app }).split('\n')[0] ?? '')?.[1]

test.each([
  ['ends no line', 'Acme\r\n\n\u2028\u2029\u0085Time: 10:00', 'Acme Time: 10:00'],
  ['changes no direction', 'Acme\u202egnp\u2066x\u200fy', 'Acme gnp x y'],
  ['is no placeholder', '$& $1 {app} %s', '$& $1 {app} %s'],
  ['may be empty', '\u200b\n', '…'],
  ['is cut', 'x'.repeat(61), `${'x'.repeat(60)}…`],
  ['has 60 characters at most', 'x'.repeat(60), 'x'.repeat(60)],
])('A name %s', (_, name, expected) => {
  expect(shown(name)?.replaceAll('\u2060', '')).toBe(expected)
})

test('A name is no link, and stays readable', () => {
  for (const name of [
    ...['evil.example', 'https://evil.example/x?y', 'www.evil.com.', 'пример.рф', '203.0.113.7'],
    ...['tg://resolve?domain=evil', 't.me/evilbot', '@evilbot', '/start', 'me@evil.example'],
    ...['#evil', '$EVIL', '+15550100'],
  ]) {
    const text = prompt({ app: `Acme ${name}`, label: name, address: name })
    expect([name, text.replaceAll('\u2060', '').split(name).length]).toEqual([name, 4])
    expect(text).not.toMatch(/[\p{L}\d][.@][\p{L}\d]|[/@#$+][\p{L}\d]/u)
  }
  for (const name of ['Acme Inc. & Co.', 'می\u200cخواهم', '👩‍👩‍👧', '❤\ufe0f', 'ก็ตาม', 'שלום'])
    expect(shown(name)).toBe(name)
  expect(shown('Node.js')).toBe('Node.\u2060js')
})

test('A name costs no time, however long it is', () => {
  const began = performance.now()
  prompt({ app: '\u0301\u200d.@'.repeat(300_000), label: ' \u200b'.repeat(300_000) })
  expect(performance.now() - began).toBeLessThan(500)
})
