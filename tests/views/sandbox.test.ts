import { describe, expect, test } from 'bun:test'
import { ASSETS } from '../../src/console/assets.ts'
import { createSandboxPages } from '../../src/console/sandbox-pages.ts'
import { LANGUAGES } from '../../src/engines/passepartout/language.ts'
import type { SandboxButton, SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'
import { WORDS } from '../../views/sandbox/words.ts'

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
const over = { people: [], buttons: [], canPressStart: false }
const STATES: Record<string, SandboxPage> = {
  asked,
  'asked for a number': { ...asked, buttons: [numbers, [deny]] },
  bound: { ...asked, people: [], canPressStart: false },
  approved: { ...asked, ...over, outcome: 'approved' },
  denied: { ...asked, ...over, outcome: 'denied' },
  expired: { ...asked, ...over, status: 410, outcome: 'expired' },
  unknown: { ...asked, ...over, status: 404, tenantName: null, chat: [], outcome: 'unknown' },
}
const names = Object.keys(STATES)

/** A page as markup, and the start tags in it. */
async function draw(page: Partial<SandboxPage> = {}) {
  const response = pages.sandbox({ ...asked, ...page })
  const html = await response.text()
  const tags: { tag: string; attributes: Record<string, string>; classes: string[] }[] = []
  new HTMLRewriter()
    .on('*', {
      element({ tagName, attributes }) {
        const own: Record<string, string> = {}
        for (const [name, value] of attributes) own[`${name}`] = `${value}`
        tags.push({ tag: tagName, attributes: own, classes: own.class?.split(' ') ?? [] })
      },
    })
    .transform(html)
  const all = (name: string) => tags.filter(({ tag }) => tag === name)
  const fields = () =>
    [...all('input'), ...all('button')]
      .filter(({ attributes }) => attributes.name !== undefined)
      .map(({ attributes: { name, value } }) => `${name}=${value}`)
  return { html, tags, all, fields, response }
}

/** What people read, tags left out, in the characters that they read. */
const wordsOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

describe.each(names)('the test bot, %s,', (name) => {
  const page = STATES[name] as SandboxPage

  test('answers with the status it is given and a policy that allows no script', async () => {
    const { response } = await draw(page)

    expect(response.status).toBe(page.status)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy')?.split('; ')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'none'")
    expect(policy).toContain("form-action 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
  })

  test('has no script, no handler, no style of its own, and a sheet that is served', async () => {
    const { all, tags } = await draw(page)

    expect(all('script')).toEqual([])
    expect(all('style')).toEqual([])
    for (const { attributes } of tags)
      expect(Object.keys(attributes).filter((key) => /^on|^style$/.test(key))).toEqual([])
    for (const { attributes } of all('link'))
      expect(ASSETS).toHaveProperty([`${attributes.href?.replace('/assets/', '')}`])
  })

  test.each(LANGUAGES)('says in %s that it is the sandbox, under one heading', async (language) => {
    const { html, all } = await draw({ ...page, language })

    expect(all('html')[0]?.attributes.lang).toBe(language)
    expect(wordsOf(html)).toContain(WORDS[language].notReal)
    expect(all('h1')).toHaveLength(1)
    expect(html).not.toMatch(/undefined|\{tenant\}|\[object/)
  })
})

describe('what can be sent', () => {
  test('is an answer, Start alone, and who one is, to the address of the page', async () => {
    const { all, fields } = await draw()

    expect(fields()).toEqual([
      'person=ada',
      'person=bo',
      'choice=deny',
      'choice=approve',
      'choice=start',
    ])
    expect(all('form')).toHaveLength(1)
    expect(all('form')[0]?.attributes).toMatchObject({ method: 'post' })
    expect(all('form')[0]?.attributes).not.toHaveProperty('action')
  })

  test('is a number or a refusal where a number is asked for', async () => {
    const { fields } = await draw({ buttons: [numbers, [deny]], canPressStart: false, people: [] })
    expect(fields()).toEqual(['choice=17', 'choice=42', 'choice=83', 'choice=deny'])
  })

  test('is no person once it cannot be chosen, and no Start that would change nothing', async () => {
    const { fields, html } = await draw(STATES.bound)
    expect(fields()).toEqual(['choice=deny', 'choice=approve'])
    expect(html).not.toContain('person=')
  })

  test('is Start alone where there is nothing else', async () => {
    const { fields, html } = await draw({ chat: [], buttons: [], people: [] })
    expect(fields()).toEqual(['choice=start'])
    expect(wordsOf(html)).toContain('-d choice=start')
  })

  test.each(['approved', 'denied', 'expired', 'unknown'])(
    'is nothing once it is %s',
    async (end) => {
      const { all, fields } = await draw(STATES[end])
      expect(fields()).toEqual([])
      expect(all('form')).toEqual([])
      expect(all('button')).toEqual([])
    },
  )

  test('is not decided by Enter: the first button of the form does nothing', async () => {
    const { attributes } = (await draw()).all('button')[0] ?? {}
    expect(attributes).toMatchObject({ formmethod: 'dialog', hidden: expect.any(String) })
    expect(attributes).not.toHaveProperty('name')
  })

  test('is shown for a terminal too, with the person that is chosen', async () => {
    const text = wordsOf((await draw()).html)
    expect(text).toMatch(/curl "\$DEEP_LINK" \\\n {2}-d choice=approve \\\n {2}-d person=bo/)
    for (const choice of ['deny', 'approve', 'start']) expect(text).toContain(`choice=${choice}`)
  })
})

describe('people', () => {
  test('are radio buttons in labels, with the chosen one checked', async () => {
    const { all } = await draw()
    const radios = all('input').map(({ attributes }) => attributes)

    expect(radios.map(({ type }) => type)).toEqual(['radio', 'radio'])
    expect(radios.filter(({ checked }) => checked !== undefined)).toMatchObject([{ value: 'bo' }])
    expect(all('label')).toHaveLength(2)
    expect(all('legend')).toHaveLength(1)
  })
})

describe('answers', () => {
  test.each(['asked', 'asked for a number'])('look alike when %s', async (name) => {
    const page = STATES[name] as SandboxPage
    const { all } = await draw(page)
    const choices = page.buttons.flat().map(({ choice }) => choice)
    const looks = all('button')
      .filter(({ attributes }) => choices.includes(`${attributes.value}`))
      .map(({ classes }) => classes)

    expect(looks).toEqual(choices.map(() => ['answer']))
  })

  test('stand in the rows that the bot gives them', async () => {
    const { html } = await draw({ buttons: [numbers, [deny]] })
    const rows = html.split('class="row"').slice(1)
    expect(rows.map((row) => row.split('class="answer"').length - 1)).toEqual([3, 1])
  })
})

describe('the chat', () => {
  test('is a list that tells who speaks, oldest first, with lines kept', async () => {
    const { html } = await draw()
    const list = html.slice(html.indexOf('<ol'), html.indexOf('</ol>'))

    expect(list.indexOf('You:')).toBeLessThan(list.indexOf('Bot:'))
    expect(list).toContain('dir="auto">Sign in to Acme?\nTime: 14:02 UTC</p>')
    expect(ASSETS['sandbox.css']?.text).toMatch(/\.bubble \{[^}]*white-space: pre-line/)
  })

  test('is not there where the link leads nowhere', async () => {
    const { all, html } = await draw(STATES.unknown)
    expect(all('ol')).toEqual([])
    expect(wordsOf(html)).toContain(WORDS.en.outcomes.unknown.heading)
  })

  test.each([
    ['approved', '200 completed'],
    ['denied', '404 login_denied'],
    ['expired', '404 nonce_expired'],
  ] as const)('ends as %s with what that means for the app', async (outcome, status) => {
    const { html } = await draw(STATES[outcome])
    const { heading, text } = WORDS.en.outcomes[outcome]

    expect(html).toContain(`<title>${heading}`)
    expect(wordsOf(html)).toContain(text)
    expect(wordsOf(html)).toContain(status)
  })
})

describe('hostile text', () => {
  const script = '</title></p></label><script>alert(1)</script>'

  test('stays text, wherever it is', async () => {
    const { html, all, fields } = await draw({
      tenantName: script,
      people: [{ id: `"${script}`, name: script, isChosen: true }],
      chat: [
        { from: 'person', text: script },
        { from: 'bot', text: script },
      ],
      buttons: [[{ label: script, choice: `"${script}`, weight: 'approve' }]],
    })

    expect(all('script')).toEqual([])
    expect(html).not.toContain('<script')
    expect(fields()).toHaveLength(3)
  })

  test('keeps its direction to itself', async () => {
    const { html } = await draw({
      tenantName: '\u202eemcA',
      people: [{ id: 'ada', name: '\u202eadA', isChosen: true }],
    })

    expect(html).not.toContain('\u202e')
    expect(html).toContain('<bdi>emcA</bdi>')
    expect(html).toContain('<bdi class="name">adA</bdi>')
  })
})

test('every language has words of its own for all that the page says', () => {
  const texts = (words: unknown): string[] =>
    typeof words === 'string' ? [words] : Object.values(words as object).flatMap(texts)
  const SAME = ['Sandbox', 'Bot:']
  const [english, german] = [texts(WORDS.en), texts(WORDS.de)]

  expect(german).toHaveLength(english.length)
  for (const [position, text] of english.entries()) {
    expect(text).not.toBe('')
    if (!SAME.includes(text)) expect(german[position]).not.toBe(text)
  }
})
