import { describe, expect, test } from 'bun:test'
import { LANGUAGES, type Language } from '../../../src/engines/passepartout/language.ts'
import {
  type Asking,
  createTexts,
  type Texts,
} from '../../../src/engines/passepartout/texts/index.ts'

const MINUTE = 60_000
const AT = Date.UTC(2026, 10, 24, 14, 2, 40)
const UNTIL = AT + 10 * MINUTE

const ASKING: Asking = {
  app: 'Acme & Söhne',
  label: 'Kitchen display',
  device: { browser: 'Chrome', system: 'Windows' },
  address: '203.0.113.7',
  askedAt: AT,
  match: false,
}

const ENDINGS = ['approved', 'denied', 'mismatched', 'expired'] as const
const TAP_RESULTS = [...ENDINGS, 'over', 'not_yours'] as const
const LINK_REPLIES = ['unknown_link', 'expired_link', 'taken_link', 'answered_link'] as const
const WAITS = ['cooling_down', 'too_many'] as const
const REPLIES = ['hello', ...LINK_REPLIES, ...WAITS] as const

type Say = (texts: Texts, app: string) => string

const PROMPTS: Record<string, Say> = {
  'prompt with buttons': (texts, app) => texts.prompt({ ...ASKING, app }),
  'prompt with numbers': (texts, app) => texts.prompt({ ...ASKING, app, match: true }),
  'prompt that knows nothing': (texts, app) =>
    texts.prompt({ ...ASKING, app, label: null, device: null, address: null }),
}

const MESSAGES: Record<string, Say> = {
  ...PROMPTS,
  ...Object.fromEntries(
    ENDINGS.map((kind): [string, Say] => [
      `outcome ${kind}`,
      (texts, app) => texts.outcome(kind, { app, at: AT }),
    ]),
  ),
  ...Object.fromEntries(
    REPLIES.map((kind): [string, Say] => [
      `reply ${kind}`,
      (texts, app) => texts.reply(kind, { app, until: UNTIL }),
    ]),
  ),
  ...Object.fromEntries(
    WAITS.map((kind): [string, Say] => [
      `reply ${kind} without an end`,
      (texts, app) => texts.reply(kind, { app }),
    ]),
  ),
}

const ALL: Record<string, Say> = {
  ...MESSAGES,
  approve: (texts) => texts.approve,
  deny: (texts) => texts.deny,
  ...Object.fromEntries(
    TAP_RESULTS.map((kind): [string, Say] => [`notice ${kind}`, (texts) => texts.notice(kind)]),
  ),
}

const casesOf = (says: Record<string, Say>) =>
  LANGUAGES.flatMap((language) =>
    Object.entries(says).map(([name, say]) => ({
      language,
      name,
      said: (app = ASKING.app) => say(createTexts(language), app),
    })),
  )

const inBoth = (prompt: Partial<Asking>): Record<Language, string> => ({
  en: createTexts('en').prompt({ ...ASKING, ...prompt }),
  de: createTexts('de').prompt({ ...ASKING, ...prompt }),
})

describe('whatever a bot says', () => {
  test.each(casesOf(ALL))('leaves no gap unfilled: $name, $language', ({ said }) => {
    expect(said()).toMatch(/\S/)
    expect(said()).not.toMatch(/undefined|null|NaN|Invalid|\[object|[{}<>]/)
    expect(said()).not.toMatch(/ {2}| [.,:;?!\n]|\.\.|\n{3}|^\s|\s$/)
  })

  test.each(Object.entries(ALL))('differs between languages: %s', (_name, say) => {
    expect(say(createTexts('de'), 'Acme')).not.toBe(say(createTexts('en'), 'Acme'))
  })

  test.each(casesOf(MESSAGES))('begins no line with a name: $name, $language', ({ said }) => {
    expect(said('שלום')).not.toMatch(/^שלום/m)
  })

  test.each(LANGUAGES)('differs from all else that it says: %s', (language) => {
    const texts = Object.values(ALL).map((say) => say(createTexts(language), 'Acme'))

    expect(new Set(texts).size).toBe(texts.length)
  })
})

describe('a prompt', () => {
  test('says what for, who asks, and what to beware of', () => {
    expect(inBoth({ address: '2001:db8::1' }).en.replaceAll('\u2060', '')).toBe(
      [
        'Sign in to Acme & Söhne?',
        '',
        'Where: Kitchen display',
        'Device: Chrome on Windows',
        'IP address: 2001:db8::1',
        'Time: 14:02 UTC',
        '',
        'Continue only if you just started this sign-in yourself.',
        "Support will never ask you to approve a sign-in. If someone asks you to, they're trying to get into your account.",
        '',
        "Is this you? Tap “Approve”. If you're not sure, tap “Deny”.",
      ].join('\n'),
    )
  })

  test('leaves out what is not known', () => {
    const { en, de } = inBoth({ label: null, device: null, address: null })

    expect(en).not.toMatch(/Where:|Device:|IP address:/)
    expect(de).not.toMatch(/Wo:|Gerät:|IP-Adresse:/)
    expect([en, de].every((text) => text.includes('14:02 UTC'))).toBe(true)
  })

  test('leaves out a label of which nothing can be shown', () => {
    expect(inBoth({ label: ' \u200b\u202e\n' }).en).not.toContain('Where:')
  })

  test.each([
    [{ browser: 'Safari', system: 'iPhone' }, 'Safari on iPhone', 'Safari auf iPhone'],
    [{ browser: 'Safari', system: null }, 'Device: Safari\n', 'Gerät: Safari\n'],
    [{ browser: null, system: 'Linux' }, 'Device: Linux\n', 'Gerät: Linux\n'],
  ])('names what is known of a device: %o', (device, en, de) => {
    expect(inBoth({ device }).en).toContain(en)
    expect(inBoth({ device }).de).toContain(de)
  })

  test.each(LANGUAGES)('names the buttons that are beneath it: %s', (language) => {
    const texts = createTexts(language)

    expect(texts.prompt(ASKING)).toContain(texts.approve)
    expect(texts.prompt(ASKING)).toContain(texts.deny)
  })

  test.each(LANGUAGES)('with numbers, offers to deny and nothing to approve: %s', (language) => {
    const texts = createTexts(language)
    const prompt = texts.prompt({ ...ASKING, match: true })

    expect(prompt).toContain(texts.deny)
    expect(prompt).not.toContain(texts.approve)
  })

  test.each(LANGUAGES)('has a warning that no name is part of: %s', (language) => {
    const blocks = createTexts(language)
      .prompt({ ...ASKING, app: 'XYZZY' })
      .split('\n\n')

    expect(blocks).toHaveLength(4)
    expect(blocks[0]).toContain('XYZZY')
    expect(blocks.slice(1).join()).not.toContain('XYZZY')
  })
})

describe('lengths', () => {
  const LONG = [
    'x',
    '@a',
    '界',
    '👩🏽‍❤️‍💋‍👨🏿',
    'e\u0301\u0302\u0303\u0304',
    '.x',
    '\u{1f1e9}\u{1f1ea}',
  ]

  test.each(LANGUAGES)('a prompt is never long, whatever is in it: %s', (language) => {
    for (const piece of LONG) {
      const hostile = piece.repeat(5000)
      const asking = { ...ASKING, app: hostile, label: hostile, address: hostile, match: true }
      expect(createTexts(language).prompt(asking).length).toBeLessThanOrEqual(1000)
    }
  })

  test.each(casesOf(MESSAGES))('no name makes a message long: $name, $language', ({ said }) => {
    for (const piece of LONG) expect(said(piece.repeat(5000)).length).toBeLessThanOrEqual(1000)
  })

  test.each(LANGUAGES)('a notice can be read at a glance: %s', (language) => {
    for (const kind of TAP_RESULTS)
      expect(createTexts(language).notice(kind).length).toBeLessThanOrEqual(100)
  })

  test.each(LANGUAGES)('neither button outweighs the other: %s', (language) => {
    const { approve, deny } = createTexts(language)

    expect(approve).toMatch(/^\p{Lu}\p{Ll}+$/u)
    expect(deny).toMatch(/^\p{Lu}\p{Ll}+$/u)
    expect(Math.abs(approve.length - deny.length)).toBeLessThanOrEqual(3)
  })
})

describe('times', () => {
  test.each(LANGUAGES)('are those of the minute in which something was: %s', (language) => {
    const texts = createTexts(language)

    expect(texts.outcome('approved', { app: 'Acme', at: AT })).toContain('14:02 UTC')
    expect(texts.outcome('denied', { app: 'Acme', at: AT })).toContain('14:02 UTC')
  })

  test.each(LANGUAGES)('send nobody back too soon: %s', (language) => {
    for (const kind of WAITS) {
      const reply = (until: number) => createTexts(language).reply(kind, { app: 'Acme', until })
      expect(reply(UNTIL)).toContain('14:13 UTC')
      expect(reply(Date.UTC(2026, 10, 24, 23, 59, 0))).toContain('23:59 UTC')
      expect(reply(Date.UTC(2026, 10, 24, 23, 59, 1))).toContain('00:00 UTC')
    }
  })
})

describe('a hostile name', () => {
  const nameOf = (app: string) =>
    /^Sign in to (.*)\?$/.exec(inBoth({ app }).en.split('\n')[0] ?? '')?.[1]

  test.each([
    ['ends no line', 'Acme\r\n\n\u2028\u2029\u0085Time: 10:00', 'Acme Time: 10:00'],
    ['turns nothing round', 'Acme\u202egnp\u2066x\u200fy', 'Acme gnp x y'],
    ['hides nothing', 'A\u00adc\u200bm\u2060e\ufeff\u{e0041}', 'A c m e'],
    ['pushes nothing away', `Acme${'\u3000\u2800\u3164 \t'.repeat(9)}Approve`, 'Acme Approve'],
    ['does not reach above or below', `A\u0301${'\u0302'.repeat(90)}`, 'A\u0301\u0302\u0302'],
    ['has no halves of characters', 'Ac\ud83dme', 'Ac me'],
    ['has no placeholder that is filled', '$& $1 {app} %s', '$& $1 {app} %s'],
    ['is no markup', '<b>Acme</b> *x* _y_ `z`', '<b>Acme</b> *x* _y_ `z`'],
    ['may be none at all', '\u200b\n', '…'],
    ['ends where it may', 'x'.repeat(61), `${'x'.repeat(60)}…`],
    ['has all that it may', 'x'.repeat(60), 'x'.repeat(60)],
  ])('%s', (_rule, name, expected) => {
    expect(nameOf(name)?.replaceAll('\u2060', '')).toBe(expected)
  })

  test('keeps what languages and pictures need', () => {
    for (const name of ['می\u200cخواهم', '👩‍👩‍👧', '❤\ufe0f', 'ก็ตาม', 'שלום'])
      expect(nameOf(name)).toBe(name)
  })

  test.each([
    'evil.example',
    'https://evil.example/x?y',
    'www.evil.com.',
    'пример.рф',
    '203.0.113.7',
    'tg://resolve?domain=evil',
    't.me/evilbot',
    '@evilbot',
    'me@evil.example',
    '/start',
    '#evil',
    '$EVIL',
    '+15550100',
  ])('makes no link: %s', (name) => {
    const { en } = inBoth({ app: `Acme ${name}`, label: name, address: name })

    expect(en.replaceAll('\u2060', '').split(name)).toHaveLength(4)
    expect(en).not.toMatch(/[\p{L}\d][.@][\p{L}\d]|[/@#$+][\p{L}\d]/u)
  })

  test('is no less readable for it', () => {
    expect(nameOf('Acme Inc. & Co.')).toBe('Acme Inc. & Co.')
    expect(nameOf('Node.js')).toBe('Node.\u2060js')
  })

  test('costs no time, however long', () => {
    const began = performance.now()
    inBoth({ app: '\u0301\u200d.@'.repeat(1_000_000), label: ' \u200b'.repeat(1_000_000) })

    expect(performance.now() - began).toBeLessThan(500)
  })
})
