import { describe, expect, test } from 'bun:test'
import { renderMail } from '../../../src/platform/mail/template.ts'

const CONTENT = {
  language: 'en',
  tenantName: 'Acme',
  heading: 'Confirm your address',
  paragraphs: ['Enter this code to verify your email address.', 'It expires in 15 minutes.'],
  code: '481516',
  link: {
    label: 'Confirm',
    url: 'https://gate.example.org/verify?flow=1&code=481516',
    orOpen: 'Or copy this link into your browser:',
  },
  footer: 'You asked for this at acme.example. If it was not you, do nothing.',
}

const ATTACK = `"><img src=x onerror='alert(1)'><script>alert(2)</script>&amp;`

/** Every tag, as names: what markup a text could have brought in. */
const tagsIn = (html: string) =>
  [...html.matchAll(/<\s*\/?\s*([a-z!][\w-]*)/gi)].map(([, tag]) => tag)

test('the text says what the HTML says', () => {
  expect(renderMail(CONTENT).text).toBe(
    [
      'Confirm your address',
      'Enter this code to verify your email address.',
      'It expires in 15 minutes.',
      '    481516',
      'Confirm:\nhttps://gate.example.org/verify?flow=1&code=481516',
      '--\nAcme\nYou asked for this at acme.example. If it was not you, do nothing.\n',
    ].join('\n\n'),
  )
})

test('the HTML has the code in one piece and the link as a button and spelled out', () => {
  const { html } = renderMail(CONTENT)
  const address = 'https://gate.example.org/verify?flow=1&amp;code=481516'

  expect(html).toContain('>481516<')
  expect(html).toContain(`<a class="label" href="${address}"`)
  expect(html).toContain(
    `>Or copy this link into your browser:<br><span style="word-break:break-all">${address}</span>`,
  )
})

test('the HTML says what it is written in, and has no words of its own', () => {
  const words = renderMail({
    language: 'de',
    tenantName: 'A',
    heading: 'B',
    paragraphs: ['C'],
    code: 'D',
    link: { label: 'E', url: 'https://f.example/', orOpen: 'G' },
    footer: 'H',
  })
    .html.replace(/<style>.*<\/style>/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .trim()
    .split(/\s+/)

  expect(renderMail({ ...CONTENT, language: 'de' }).html).toContain('<html lang="de">')
  expect(words).toEqual(['B', 'A', 'B', 'C', 'D', 'E', 'G', 'https://f.example/', 'H'])
})

test('without a code or a link there is neither', () => {
  const { link: _, code: __, ...rest } = CONTENT
  const { text, html } = renderMail(rest)
  expect(text).not.toContain('481516')
  expect(html).not.toMatch(/class="code"|<a /)
})

test('a mail loads nothing from anywhere and runs nothing', () => {
  const { html } = renderMail(CONTENT)

  expect([...new Set(tagsIn(html))].toSorted()).toEqual(
    '!doctype a body br h1 head html meta p span style table td title tr'.split(' '),
  )
  expect(html).not.toMatch(/url\(|@import|\bsrc=/i)
})

describe('what people write is never markup', () => {
  const plain = tagsIn(renderMail(CONTENT).html)

  const { link } = CONTENT
  test.each([
    ...[{ tenantName: ATTACK }, { heading: ATTACK }, { paragraphs: [ATTACK, 'x'] }],
    ...[{ code: ATTACK }, { language: ATTACK }, { footer: ATTACK }],
    ...[{ label: ATTACK }, { url: `https://a.example/?x=${ATTACK}` }, { orOpen: ATTACK }].map(
      (fields) => ({ link: { ...link, ...fields } }),
    ),
  ])('%j', (fields) => {
    const { html } = renderMail({ ...CONTENT, ...fields })
    expect(tagsIn(html)).toEqual(plain)
    expect(html).not.toContain(`'alert(1)'`)
  })

  test('all five characters are written out, once', () => {
    const { html } = renderMail({ ...CONTENT, heading: `&<>"'&amp;` })

    expect(html).toContain('>&amp;&lt;&gt;&quot;&#39;&amp;amp;</h1>')
  })
})

test('a name makes no lines of its own, changes no direction, and may be cut in a character', () => {
  const tenantName = 'Acme\r\n\r\nYour code\u2028is \u202e000'
  const { text, html } = renderMail({ ...CONTENT, tenantName })
  expect(text).toContain('--\nAcme Your code is  000\n')
  expect(html).not.toMatch(/[\u2028\u202e]/)
  expect(renderMail({ ...CONTENT, tenantName: 'Acme \ud83d' }).html.isWellFormed()).toBe(true)
})

test.each(['javascript:alert(1)', 'data:text/html,x', '/verify', 'mailto:ada@example.com'])(
  'a link to %s is refused',
  (url) => {
    expect(() => renderMail({ ...CONTENT, link: { ...CONTENT.link, url } })).toThrow(TypeError)
  },
)
