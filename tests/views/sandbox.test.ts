import { expect, test } from 'bun:test'
import { createSandboxPages } from '../../src/console/engine-pages.ts'
import { LANGUAGES } from '../../src/engines/passepartout/language.ts'
import type { SandboxButton, SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'
import { ASSETS } from '../../views/assets.ts'
import { WORDS } from '../../views/sandbox/words.ts'
import { unescaped } from '../support/http-browser.ts'

const pages = createSandboxPages()

const deny: SandboxButton = { label: 'Deny', choice: 'deny', weight: 'deny' }
const approve: SandboxButton = { label: 'Approve', choice: 'approve', weight: 'approve' }
const numbers = ['17', '42', '83'].map(
  (number): SandboxButton => ({ label: number, choice: number, weight: 'number' }),
)

const asked: SandboxPage = {
  status: 200,
  language: 'en',
  tenantName: 'Acme',
  people: [
    { id: 'ada', name: 'Ada Lovelace', isChosen: false },
    { id: 'bo', name: 'Bo Lindqvist', isChosen: true },
  ],
  chat: [
    { from: 'person', text: '/start' },
    { from: 'bot', text: 'Sign in to Acme?\nTime: 14:02 UTC' },
  ],
  buttons: [[deny, approve]],
  canPressStart: true,
  outcome: null,
}
const bound = { ...asked, people: [], canPressStart: false }
const over = { ...bound, buttons: [] }
const OUTCOMES: [SandboxPage, string][] = [
  [{ ...over, outcome: 'approved' }, '200 completed'],
  [{ ...over, outcome: 'denied' }, '404 login_denied'],
  [{ ...over, status: 410, outcome: 'expired' }, '404 nonce_expired'],
  [{ ...over, status: 404, tenantName: null, chat: [], outcome: 'unknown' }, ''],
]

async function draw(page: Partial<SandboxPage> = {}) {
  const response = pages.sandbox({ ...asked, ...page })
  const html = await response.text()
  const tags: { tag: string; attributes: Record<string, string> }[] = []
  new HTMLRewriter()
    .on('*', {
      element: ({ tagName, attributes }) =>
        void tags.push({ tag: tagName, attributes: Object.fromEntries(attributes) }),
    })
    .transform(html)
  const all = (name: string) =>
    tags.filter(({ tag }) => tag === name).map(({ attributes }) => attributes)
  const fields = [...all('input'), ...all('button')]
    .filter(({ name }) => name !== undefined)
    .map(({ name, value }) => `${name}=${value}`)
  const text = unescaped(html.replaceAll(/<[^>]*>/g, ' '))
  return { status: response.status, headers: response.headers, html, tags, all, fields, text }
}

test('Every page has no scripts and one heading, and says in each language that it is a sandbox', async () => {
  for (const page of [asked, bound, ...OUTCOMES.map(([page]) => page)])
    for (const language of LANGUAGES) {
      const { status, headers, html, text, tags, all } = await draw({ ...page, language })
      expect([status, headers.get('content-type')]).toEqual([
        page.status,
        'text/html; charset=utf-8',
      ])
      const policy = headers.get('content-security-policy')
      for (const rule of ["default-src 'none'", "script-src 'none'", "form-action 'self'"])
        expect(`${policy};`).toContain(`${rule};`)
      expect(policy).toContain("frame-ancestors 'none'")
      expect([all('script'), all('style'), all('h1').length]).toEqual([[], [], 1])
      for (const { attributes } of tags)
        expect(Object.keys(attributes).join()).not.toMatch(/\b(on|style)/)
      for (const { href } of all('link'))
        expect(ASSETS).toHaveProperty([new URL(`${href}`, 'http://localhost').pathname.slice(8)])
      expect([all('html')[0]?.lang, text.includes(WORDS[language].notReal)]).toEqual([
        language,
        true,
      ])
      expect(html).not.toMatch(/undefined|\{tenant\}|\[object/)
    }
})

const USERS = ['person=ada', 'person=bo']

test.each<[string, Partial<SandboxPage>, string[]]>([
  [
    'an answer, Start, and the user',
    {},
    [...USERS, 'choice=deny', 'choice=approve', 'choice=start'],
  ],
  [
    'a number or a denial',
    { buttons: [numbers, [deny]], canPressStart: false, people: [] },
    ['choice=17', 'choice=42', 'choice=83', 'choice=deny'],
  ],
  ['no other user', bound, ['choice=deny', 'choice=approve']],
  ['only Start', { chat: [], buttons: [], people: [] }, ['choice=start']],
])('The form submits %s, with all answers alike', async (_, page, sent) => {
  const { fields, all, html, text } = await draw(page)
  expect(fields).toEqual(sent)
  expect(all('form')).toEqual([expect.objectContaining({ method: 'post' })])
  expect(all('form')[0]).not.toHaveProperty('action')
  // Enter must not decide: the first button does nothing.
  expect(all('button')[0]).toMatchObject({ formmethod: 'dialog', hidden: expect.any(String) })
  expect(text).toContain(`${sent.at(-1)}`)
  expect(html.includes('person=')).toBe(sent.includes('person=bo'))
  const { buttons } = { ...asked, ...page }
  const choices = buttons.flat().map(({ choice }) => choice)
  const answers = all('button').filter(({ value }) => choices.includes(`${value}`))
  expect(answers.map((button) => button.class)).toEqual(choices.map(() => 'answer'))
  expect(html.split('class="row"').length - 1).toBe(buttons.length)
})

test('The form has the selected user, also in the curl command; the chat says who speaks', async () => {
  const { all, text, html } = await draw()
  const checked = all('input').filter((input) => input.checked !== undefined)
  expect(checked).toMatchObject([{ type: 'radio', value: 'bo' }])
  for (const choice of ['deny', 'approve', 'start']) expect(text).toContain(`choice=${choice}`)
  expect(text).toMatch(/curl "\$DEEP_LINK" \\\n {2}-d choice=approve \\\n {2}-d person=bo/)
  expect([all('label').length, all('legend').length]).toEqual([2, 1])
  const list = html.slice(html.indexOf('<ol'), html.indexOf('</ol>'))
  expect(list).toMatch(/You:.*Bot:/s)
  expect(list).toContain('dir="auto">Sign in to Acme?\nTime: 14:02 UTC</p>')
  expect(ASSETS['sandbox.css']?.content).toMatch(/\.bubble \{[^}]*white-space: pre-line/)
})

test.each(OUTCOMES)('A finished sign-in shows its outcome (%#)', async (page, result) => {
  const { fields, all, html, text } = await draw(page)
  const words = WORDS.en.outcomes[page.outcome ?? 'unknown']
  expect([fields, all('form'), all('button')]).toEqual([[], [], []])
  expect(html).toContain(`<title>${words.heading}`)
  for (const part of [words.text, result]) expect(text).toContain(part)
  expect(all('ol')).toHaveLength(page.outcome === 'unknown' ? 0 : 1)
})

test('Hostile text stays text and keeps its direction to itself', async () => {
  const script = '</title></p></label><script>alert(1)</script>'
  const { html, all, fields } = await draw({
    tenantName: script,
    people: [{ id: `"${script}`, name: script, isChosen: true }],
    chat: [
      { from: 'person', text: script },
      { from: 'bot', text: script },
    ],
    buttons: [[{ label: script, choice: `"${script}`, weight: 'approve' }]],
  })
  expect([all('script'), html.includes('<script'), fields.length]).toEqual([[], false, 3])
  const people = [{ id: 'ada', name: '\u202eadA', isChosen: true }]
  const turned = (await draw({ tenantName: '\u202eemcA', people })).html
  expect(turned).not.toContain('\u202e')
  for (const part of ['<bdi>emcA</bdi>', '<bdi class="name">adA</bdi>'])
    expect(turned).toContain(part)
})

test('Every text is translated', () => {
  const textsOf = (words: unknown): string[] =>
    typeof words === 'string' ? [words] : Object.values(words as object).flatMap(textsOf)
  const [english, german] = [textsOf(WORDS.en), textsOf(WORDS.de)]
  expect(german).toHaveLength(english.length)
  const same = english.filter((text, index) => text === '' || text === german[index])
  expect([...new Set(same)].toSorted()).toEqual(['Bot:', 'Sandbox'])
})
