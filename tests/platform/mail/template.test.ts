import { expect, test } from 'bun:test'
import { renderMail } from '../../../src/platform/mail/template.ts'

const CONTENT = {
  ...{ language: 'en', tenantName: 'Acme', heading: 'Confirm your address', code: '481516' },
  paragraphs: ['Enter this code to verify your email address.', 'It expires in 15 minutes.'],
  link: {
    label: 'Confirm',
    url: 'https://gate.example.org/verify?flow=1&code=481516',
    orOpen: 'Or copy this link into your browser:',
  },
  footer: 'You asked for this at acme.example. If it was not you, do nothing.',
}
const { link, code: _, ...REST } = CONTENT
const ATTACK = `"><img src=x onerror='alert(1)'><script>alert(2)</script>&amp;`

/** The names of all tags, which tell the markup that a text could have brought in. */
const tagsIn = (html: string) =>
  [...html.matchAll(/<\s*\/?\s*([a-z!][\w-]*)/gi)].map(([, tag]) => tag)

test('A mail has its code in one piece and its link spelled out, in text and HTML', () => {
  const { text, html } = renderMail(CONTENT)
  const [intro, ...paragraphs] = CONTENT.paragraphs
  const lines = `Confirm your address\n\n${intro}\n\n${paragraphs}\n\n    481516\n\nConfirm:\n${link.url}`
  expect(text).toBe(`${lines}\n\n--\nAcme\n${CONTENT.footer}\n`)
  const address = 'https://gate.example.org/verify?flow=1&amp;code=481516'
  expect(html).toContain('>481516<')
  expect(html).toContain(`<a class="label" href="${address}"`)
  const orOpen = `browser:<br><span style="word-break:break-all">${address}</span>`
  expect(html).toContain(orOpen)
  const { text: plain, html: markup } = renderMail(REST)
  expect(plain).not.toContain('481516')
  expect(markup).not.toMatch(/class="code"|<a /)
})

test('The HTML names its language, and has no words of its own', () => {
  const { html } = renderMail({
    ...{ language: 'de', tenantName: 'A', heading: 'B', paragraphs: ['C'], code: 'D' },
    ...{ link: { label: 'E', url: 'https://f.example/', orOpen: 'G' }, footer: 'H' },
  })
  const words = html
    .replace(/<style>.*<\/style>/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .trim()
    .split(/\s+/)
  expect(html).toContain('<html lang="de">')
  expect(words).toEqual(['B', 'A', 'B', 'C', 'D', 'E', 'G', 'https://f.example/', 'H'])
})

test('A mail loads nothing from anywhere and runs nothing', () => {
  const { html } = renderMail(CONTENT)
  const tags = '!doctype a body br h1 head html meta p span style table td title tr'
  expect([...new Set(tagsIn(html))].toSorted()).toEqual(tags.split(' '))
  expect(html).not.toMatch(/url\(|@import|\bsrc=/i)
})

test.each([
  ...[{ tenantName: ATTACK }, { heading: ATTACK }, { paragraphs: [ATTACK, 'x'] }],
  ...[{ code: ATTACK }, { language: ATTACK }, { footer: ATTACK }],
  ...[{ label: ATTACK }, { url: `https://a.example/?x=${ATTACK}` }, { orOpen: ATTACK }].map(
    (fields) => ({ link: { ...link, ...fields } }),
  ),
])('No text is markup: %j', (fields) => {
  const { html } = renderMail({ ...CONTENT, ...fields })
  expect(tagsIn(html)).toEqual(tagsIn(renderMail(CONTENT).html))
  expect(html).not.toContain(`'alert(1)'`)
})

test('A name makes no lines or markup of its own, changes no direction, and may be cut in a character', () => {
  const tenantName = 'Acme\r\n\r\nYour code\u2028is \u202e000'
  const lines = { ...link, label: 'Con\r\nfirm' }
  const { text, html } = renderMail({ ...CONTENT, tenantName, heading: `&<>"'&amp;`, link: lines })
  expect(text).toContain('\n\nCon firm:\n')
  expect(text).toContain('--\nAcme Your code is  000\n')
  expect(html).not.toMatch(/[\u2028\u202e]/)
  expect(html).toContain('>&amp;&lt;&gt;&quot;&#39;&amp;amp;</h1>')
  expect(renderMail({ ...CONTENT, tenantName: 'Acme \ud83d' }).html.isWellFormed()).toBe(true)
})

test('A link that is not http is refused', () => {
  for (const url of ['javascript:alert(1)', '/verify'])
    expect(() => renderMail({ ...CONTENT, link: { ...link, url } })).toThrow(TypeError)
})
